// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoading
import DataLoadingSupport

/// The line of slots of one key, and the daemons that have asked for some lately.
///
/// The rules are those of the script that `RedisFleet` runs in its server. Times are microseconds of
/// the store's clock; a fraction is kept, so that a rate of three a second adds up.
package struct QuotaLine: Sendable {
    /// A question, as the script gets it: lengths are microseconds.
    package struct Question: Sendable {
        package var member: String
        package var interval: Double
        package var burst = 1
        /// The number of slots that can be used; zero only looks.
        package var want: Int
        /// How long the first slot may be away; nil for any time.
        package var patience: Double?
        package var window = 100_000.0
        /// How far the line is known to be leased.
        package var lead = 0.0
        /// How many daemons there may be, for a line that was lost.
        package var hint = 1
        /// The store's time, as far as the daemon knows it.
        package var asked: Double?

        package init(member: String, interval: Double, want: Int) {
            self.member = member
            self.interval = interval
            self.want = want
        }

        /// What a daemon asks that knows of so many daemons.
        package init(_ request: QuotaRequest, of member: String, window: Duration, known: Int) {
            self.member = member
            let exact = 1e6 / request.requestsPerSecond
            interval = exact > 0 ? min(max(exact, 0.001), 1e12) : 1e12
            burst = min(max(1, request.burst), 1_000_000)
            want = min(max(0, request.count), 1_000_000)
            patience = request.longestWait.map { $0.inSeconds * 1e6 }
            self.window = window.inSeconds * 1e6
            lead = request.knownLead.inSeconds * 1e6
            hint = known
        }

        /// What the daemon learns from the answer.
        package func lease(from answer: Answer) -> QuotaLease {
            QuotaLease(
                count: answer.granted, firstStart: .microseconds(answer.start),
                interval: .saturating(seconds: interval / 1e6), lead: .microseconds(answer.lead),
                gate: .microseconds(answer.gate))
        }
    }

    /// The answer to a question; lengths are whole microseconds from the store's now.
    package struct Answer: Hashable, Sendable {
        package var start: Int64
        package var granted: Int
        package var gate: Int64
        package var lead: Int64
        package var askers: Int
    }

    /// How long a line is kept that no daemon asks about.
    private static let rest = 60_000_000.0

    private var tat: Double?
    private var gate = 0.0
    private var askers: [String: Double] = [:]
    private var end = 0.0
    /// When the line was used last.
    private var seen = 0.0

    package init() {}

    /// Answers a question at an instant of the store's clock.
    package mutating func answer(_ question: Question, at now: Double) -> Answer {
        if now > end { self = QuotaLine() }
        let isSetForward = see(now, asked: question.asked)
        if gate <= now { gate = 0 }
        let interval = question.interval
        let tolerance = Double(question.burst - 1) * interval
        let isLost = tat == nil
        if question.want > 0 { askers[question.member] = now }
        let oldest = now - max(2_000_000, 3 * Double(askers.count) * interval)
        askers = askers.filter { $0.value > oldest }
        let count = max(1, askers.count)
        let known = Double(isLost || isSetForward ? max(count, question.hint) : count)
        // What a daemon remembers restores the line, and cannot park it far away. The line itself is
        // longer while many become busy at once, the n-th of whom gets an n-th of the window. While the
        // key is closed it begins where the key opens.
        let first = max(now, gate) + tolerance
        let far = first + 2 * max(question.window, known * interval)
        // What a clock that was set forward has made expire may have been leased so far.
        let line = tat ?? (isSetForward ? far : 0)
        var reach = max(line, min(now + question.lead, far + interval))
        reach = min(reach, first + 2 * known * interval + 4 * question.window + interval)
        let due = max(reach, now, gate + tolerance)
        let start = due - tolerance
        var granted = 0
        if question.want > 0, question.patience.map({ start - now <= $0 }) ?? true {
            let free = start <= now ? Self.whole((now - start) / interval) + 1 : 0
            let fair = Self.whole(question.window / (interval * Double(count)))
            granted = min(question.want, max(1, fair, free))
            reach = due + Double(granted) * interval
        }
        tat = reach
        end = max(reach, gate, now) + Self.rest
        return Answer(
            start: Int64(start - now), granted: granted, gate: max(0, Int64(gate - now)),
            lead: Int64(reach - now), askers: count)
    }

    /// Closes the key for so many microseconds, unless it is closed for longer.
    ///
    /// Who closes a key need not know its rate, so that nothing else changes.
    package mutating func close(for delay: Double, at now: Double) {
        if now > end { self = QuotaLine() }
        see(now)
        gate = max(gate, now + delay)
        end = max(end, gate + Self.rest)
    }

    /// Notes the store's time; returns whether its clock was set forward.
    ///
    /// A clock that was set back takes all instants with it. That it was set forward only who asks can
    /// tell, and the first who does so tells it to the line.
    @discardableResult
    private mutating func see(_ now: Double, asked: Double? = nil) -> Bool {
        var back = max(0, seen - now)
        if back > 0 {
            askers = askers.filter { $0.value <= now }
        } else if let asked, now - asked > 500_000, seen <= asked {
            back = asked - now
        }
        tat = tat.map { $0 - back }
        gate -= back
        seen = now
        return back < 0
    }

    private static func whole(_ number: Double) -> Int {
        number >= 1e9 ? 1_000_000_000 : Int(number.rounded(.down))
    }
}
