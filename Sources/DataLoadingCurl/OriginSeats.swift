// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Synchronization

/// On which of several loops the attempts of each origin run.
///
/// All connections of an origin are on one loop, since an attempt can use those of its own loop
/// only. New origins are given to the loops in turn. An origin keeps its loop while it has attempts,
/// and after them for as long as a connection may be used again. Then it is forgotten.
struct OriginSeats {
    /// The number of origins below which none is forgotten.
    private static let least = 1_024
    /// The maximum number of origins without attempts.
    static let limit = 16_384

    private let loops: Int
    private var seats: [Origin: OriginSeat] = [:]
    private var next = 0
    private var sweepCount = Self.least

    init(loops: Int) {
        self.loops = max(1, loops)
    }

    /// The number of origins.
    var count: Int { seats.count }

    /// Returns the origin whose connections an attempt uses: that of a proxy which it is sent
    /// through without a tunnel; nil for a URL that is refused.
    static func origin(of request: TransportRequest) -> Origin? {
        guard let target = try? RequestTarget(text: request.text) else { return nil }
        if let proxy = request.proxy, !target.origin.isSecure { return proxy.origin }
        return target.origin
    }

    /// Returns the seat of an origin; the table keeps it while the caller holds it.
    mutating func seat(for origin: Origin, now: Int64) -> OriginSeat {
        if let seat = seats[origin] { return seat }
        if seats.count >= sweepCount { sweep(now) }
        let seat = OriginSeat(loop: next, now: now)
        next = (next + 1) % loops
        seats[origin] = seat
        return seat
    }

    /// Moves an origin to another loop, as its own could not be started.
    mutating func move(_ origin: Origin, to loop: Int, now: Int64) -> OriginSeat {
        let seat = OriginSeat(loop: loop, now: now)
        seats[origin] = seat
        return seat
    }

    /// Forgets the origins whose connections are not used again, and more where they are too many.
    private mutating func sweep(_ now: Int64) {
        let oldest = now &- Int64(CurlTransfer.maxIdleSeconds) &* 1_000_000_000
        var unused: [Origin] = []
        var spare: [Origin] = []
        // A loop over the indices would copy the table, and then every seat has two owners.
        var index = seats.startIndex
        while index != seats.endIndex {
            if isKnownUniquelyReferenced(&seats.values[index]) {
                let (origin, seat) = seats[index]
                if seat.lastUse < oldest { unused.append(origin) } else { spare.append(origin) }
            }
            seats.formIndex(after: &index)
        }
        for origin in unused { seats[origin] = nil }
        // These may get another loop, where their next attempts connect anew.
        for origin in spare.dropFirst(Self.limit) { seats[origin] = nil }
        sweepCount = max(Self.least, 2 * seats.count)
    }
}

/// The place of an origin on a loop, which every attempt of the origin holds.
final class OriginSeat: Sendable {
    /// The index of the loop.
    let loop: Int
    private let end: Atomic<Int64>

    init(loop: Int, now: Int64) {
        self.loop = loop
        end = Atomic(now)
    }

    /// When the last attempt that held the seat has ended.
    var lastUse: Int64 { end.load(ordering: .relaxed) }

    func noteUse(_ now: Int64) { end.store(now, ordering: .relaxed) }
}
