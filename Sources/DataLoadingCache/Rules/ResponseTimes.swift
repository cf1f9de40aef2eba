// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
import DataLoadingTransport

/// When a stored response's request was sent, and when the response arrived.
package struct ResponseTimes: Hashable, Sendable {
    /// The moment at which the response arrived.
    package let received: CacheMoment
    /// How long the response took.
    package let delay: Duration
    /// Whether this process received the response, so that its monotonic clock counts.
    package let isOfThisProcess: Bool

    /// The times of a response that this process has received.
    package init(requested: Instant, received: CacheMoment) {
        self.received = received
        delay = max(received.monotonic - requested, .zero)
        isOfThisProcess = true
    }

    /// The times of a response that was stored by any process.
    package init(receivedAt milliseconds: Int64, delay: Duration) {
        received = CacheMoment(wall: milliseconds, monotonic: Instant(nanoseconds: 0))
        self.delay = max(delay, .zero)
        isOfThisProcess = false
    }

    /// The times of a response that this process has received, as a store kept them.
    init(own received: CacheMoment, delay: Duration) {
        self.received = received
        self.delay = max(delay, .zero)
        isOfThisProcess = true
    }

    /// How long the response has been here; nil when the wall clock went back.
    func residentTime(at now: CacheMoment) -> Duration? {
        guard !isOfThisProcess else { return max(now.monotonic - received.monotonic, .zero) }
        let (time, overflow) = now.wall.subtractingReportingOverflow(received.wall)
        return overflow || time < 0 ? nil : .milliseconds(time)
    }

    /// Whether another response was asked for after this one, and was there before it.
    ///
    /// Two processes have only the wall clock in common, of which a millisecond may be rounded.
    func isAround(_ other: ResponseTimes) -> Bool {
        let gap: Duration
        if isOfThisProcess, other.isOfThisProcess {
            gap = received.monotonic - other.received.monotonic
        } else {
            let (wall, overflow) = received.wall.subtractingReportingOverflow(other.received.wall)
            guard !overflow, wall >= 0 else { return false }
            gap = .milliseconds(wall) + .milliseconds(1)
        }
        return gap >= .zero && delay - other.delay > gap
    }

    /// The age at which the response arrived (RFC 9111 section 4.2.3).
    func initialAge(_ headers: HTTPHeaders) -> Duration {
        max(apparentAge(headers), Self.statedAge(headers) + delay)
    }

    /// The time since the response's own date, by this machine's wall clock.
    private func apparentAge(_ headers: HTTPHeaders) -> Duration {
        let now = received.seconds
        guard let date = headers.date(of: "Date", now: now) else { return .zero }
        let (age, overflow) = now.subtractingReportingOverflow(date)
        return overflow || age < 0 ? .zero : .seconds(age)
    }

    /// The first member of `Age`, as RFC 9111 section 5.1 says; zero when it is no number.
    private static func statedAge(_ headers: HTTPHeaders) -> Duration {
        guard let value = headers.values(for: "Age").first else { return .zero }
        return Duration(deltaSeconds: value.prefix { $0 != "," }.trimmingBlanks) ?? .zero
    }
}
