// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The event loops of a transport, each of which is started by the first attempt that needs it, and
/// the choice of one for an attempt.
struct LoopTable<Loop> {
    /// Where an attempt runs.
    struct Place {
        let loop: Loop
        let seat: OriginSeat?
    }

    /// Each loop, once it was started.
    private var loops: [Loop?]
    private var seats: OriginSeats
    private var isShutDown = false

    init(count: Int) {
        loops = Array(repeating: nil, count: count)
        seats = OriginSeats(loops: count)
    }

    /// The started loops; none after `shutDown`.
    var running: [Loop] { isShutDown ? [] : loops.compactMap { $0 } }

    /// The number of origins that have a place on a loop.
    var originCount: Int { seats.count }

    /// Finds the loop for an attempt to an origin, or for one of a transport with a single loop, and
    /// starts it where the attempt is its first.
    mutating func place(
        of origin: Origin?, now: Int64, start: () -> Loop?
    ) throws(DataLoaderError) -> Place {
        guard !isShutDown else { throw .serviceInvalidated }
        let seat = origin.map { seats.seat(for: $0, now: now) }
        let index = seat?.loop ?? 0
        if let loop = loops[index] { return Place(loop: loop, seat: seat) }
        if let loop = start() {
            loops[index] = loop
            return Place(loop: loop, seat: seat)
        }
        // A process that is out of threads or descriptors continues with the loops that it has.
        for case (let index, let loop?) in loops.enumerated() {
            return Place(loop: loop, seat: origin.map { seats.move($0, to: index, now: now) })
        }
        throw .resources(reason: "no thread or descriptor for the loop")
    }

    /// Refuses attempts from now on, and returns the loops to end.
    mutating func shutDown() -> [Loop] {
        defer { isShutDown = true }
        return loops.compactMap { $0 }
    }
}

extension LoopTable: Sendable where Loop: Sendable {}
