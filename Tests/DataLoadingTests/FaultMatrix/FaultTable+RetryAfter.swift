// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Row 30: values of Retry-After, with a deadline before their time.
        ///
        /// A readable delay is longer than the deadline and ends the load at once, with its date;
        /// an unreadable one counts as absent, and the load is retried.
        static let retryAfterFaults: [Fault] = [429, 503].flatMap { status in
            forms.map { form in
                Fault(
                    number: 30, title: "\(status), Retry-After \(form.title)", axes: .plainFirst
                ) { _ in
                    FaultScene.answering(
                        .status(status, headers: HTTPHeaders(retryAfter: form.values()))
                    ).with {
                        // Shorter than any of the delays.
                        $0.deadline = form.delay == 1 ? .milliseconds(900) : .seconds(4)
                        $0.check = { complaint(form.delay, $0) }
                    }
                } expectation: { cell in
                    let isShort = (form.delay ?? 0) <= 0
                    let retried: FaultExpectation.Retry = status == 429 ? .always : .idempotent
                    return FaultExpectation(
                        "\(status)", retried: isShort ? retried : .never, in: cell)
                }
            }
        }

        private struct Form: Sendable {
            let title: String
            /// The seconds of the delay; nil if it cannot be read.
            let delay: Double?
            let values: @Sendable () -> [String]

            init(_ title: String, _ delay: Double?, _ values: @escaping @Sendable () -> [String]) {
                self.title = title
                self.delay = delay
                self.values = values
            }
        }

        private static let forms: [Form] = [
            Form("absent", nil) { [] },
            Form("0", 0) { ["0"] },
            Form("1", 1) { ["1"] },
            Form("120", 120) { ["120"] },
            Form("5 in blanks", 5) { [" 5 "] },
            Form("a date", 30) { [date("EEE, dd MMM yyyy HH:mm:ss 'GMT'")] },
            Form("a date of RFC 850", 30) { [date("EEEE, dd-MMM-yy HH:mm:ss 'GMT'")] },
            Form("a date of asctime", 30) { [date("EEE MMM \(blankDay) HH:mm:ss yyyy")] },
            Form("a date that has passed", 0) { ["Sun, 06 Nov 1994 08:49:37 GMT"] },
            Form("in the year 9999", 1e9) { ["Fri, 31 Dec 9999 23:59:59 GMT"] },
            Form("-1", nil) { ["-1"] },
            Form("1.5", nil) { ["1.5"] },
            Form("10⁹", 1e9) { ["1000000000"] },
            Form("10³⁰", 1e9) { ["1" + String(repeating: "0", count: 30)] },
            Form("soon", nil) { ["soon"] },
            Form("twice", 120) { ["0", "120"] },
            Form("a list", 120) { ["0, 120"] },
            Form("empty", nil) { [""] },
        ]

        /// The day in asctime format, with a space before a single digit.
        private static var blankDay: String {
            let day = date("d")
            return day.count == 1 ? " \(day)" : day
        }

        private static func date(_ format: String) -> String {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = format
            return formatter.string(from: Date(timeIntervalSinceNow: 30))
        }

        /// What is wrong with the date in the outcome.
        private static func complaint(_ delay: Double?, _ seen: FaultObservation) -> String? {
            let since = seen.outcome.map { (ContinuousClock.now - $0.at) / .seconds(1) } ?? 0
            let told = seen.outcome?.response?.retryAfter.map { $0.timeIntervalSinceNow + since }
            switch (delay, told) {
            case (nil, nil): return nil
            case (nil, let told?): return "an instant in \(told) s from nothing"
            case (let delay?, let told?):
                // The largest delays are capped.
                let isRight = delay >= 1e9 ? told >= 3_600 : abs(told - delay) < 2.5
                return isRight ? nil : "an instant in \(told) s"
            case (_?, nil): return "no instant"
            }
        }
    }

    extension HTTPHeaders {
        fileprivate init(retryAfter values: [String]) {
            self.init()
            for value in values { add(value, for: "Retry-After") }
        }
    }
#endif
