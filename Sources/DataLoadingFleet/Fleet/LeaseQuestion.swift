// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// What the script of a lease is asked, and what it answers.
struct LeaseQuestion: Sendable {
    /// In microseconds, with a fraction, so that a rate of three a second adds up.
    private let interval: Double
    /// What the script gets, in its order.
    let arguments: [String]

    /// `asked` is the server's time in microseconds, if the daemon knows it.
    init(_ request: QuotaRequest, of member: String, window: Duration, known: Int, asked: Int64?) {
        // A rate that no daemon can use would make the interval nothing.
        let exact = 1e6 / request.requestsPerSecond
        interval = exact > 0 ? min(max(exact, 0.001), 1e12) : 1e12
        arguments = [
            member, "\(interval)", "\(min(max(1, request.burst), 1_000_000))",
            "\(min(max(0, request.count), 1_000_000))",
            Self.patience(request.longestWait), "\(window.microseconds)",
            "\(request.knownLead.microseconds)", "\(max(1, known))", "\(asked ?? 0)",
        ]
    }

    /// A wait of more than an hour counts as one without an end: a load with less time than that would
    /// be turned away otherwise, and ask again and again.
    private static func patience(_ wait: Duration?) -> String {
        guard let wait, wait <= .longestGate else { return "-1" }
        return "\(wait.microseconds)"
    }

    /// What a script can count exactly: its numbers are doubles.
    private static let possible: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    /// Reads the script's answer: offsets in whole microseconds from the server's now.
    func lease(from reply: RESPValue) throws(FleetReplyError) -> QuotaLease {
        guard let numbers = reply.elements?.compactMap(\.number), numbers.count == 4,
            let count = Int(exactly: numbers[1]), count >= 0,
            numbers.allSatisfy({ Self.possible.contains($0) }),
            numbers[2] <= Duration.longestGate.microseconds
        else { throw FleetReplyError() }
        return QuotaLease(
            count: count, firstStart: .microseconds(numbers[0]),
            interval: .saturating(seconds: interval / 1e6), lead: .microseconds(numbers[3]),
            gate: .microseconds(max(0, numbers[2])))
    }
}

/// The server's answer is none of a script of ours.
struct FleetReplyError: Error, CustomStringConvertible {
    var description: String { "the server's answer is not that of the script" }
}

extension Duration {
    /// How long a host may be closed.
    fileprivate static let longestGate = Duration.seconds(3_600)

    /// Whole microseconds, from zero to an hour.
    ///
    /// Longer ones would be no help: a gate is an hour at most.
    var microseconds: Int64 {
        min(max(.zero, self), .longestGate).wholeNanoseconds / 1_000
    }
}
