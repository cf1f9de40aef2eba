// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    import DataLoadingSupport
    import DataLoading
    import Foundation

    /// The results of every load of a scene, compared with the servers' logs.
    final class SceneLedger: Sendable {
        /// What the client knows about a POST when its load has ended.
        enum Posted: Sendable {
            case answered, maybe, notProcessed, cancelled
        }

        struct Tally: Sendable {
            var performed = 0
            var ended = 0
            /// The number of second outcomes.
            var doubles = 0
            var cancelled = 0
            /// Loads of loaders that were released: only observers are told of their ends.
            var dropped = 0
            /// Loads that observers were told of.
            var observed = 0
            /// Loads whose task may be cancelled: a task that is cancelled before it begins
            /// performs nothing, and observers are told nothing.
            var tasks = Tasks()
            /// The number of loads by kind and outcome.
            var endings: [String: Int] = [:]
            /// Outcomes that are not allowed, and wrong bodies.
            var wrong: [String: Int] = [:]
            var posts: [Int: Posted] = [:]
            /// The number of loads by protocol, from the metrics.
            var versions: [String: Int] = [:]
            /// How often the server has crashed.
            var deaths = 0
            /// The longest time of a load, without its pauses between attempts.
            var slowest = Duration.zero
        }

        struct Tasks: Sendable {
            static let source = "task"

            var performed = 0
            var cancelled = 0
            var observed = 0
        }

        private let state = Locked(Tally())
        private let pace: ScenePace

        init(pace: ScenePace) {
            self.pace = pace
        }

        var tally: Tally { state.withLock { $0 } }

        /// Returns the number of a load that is about to start.
        func begin() -> Int {
            state.withLock {
                $0.performed += 1
                return $0.performed
            }
        }

        func note(_ change: @Sendable (inout Tally) -> Void) {
            state.withLock { change(&$0) }
        }

        /// Notes how a load ended; `isAllowed` says whether it may end so.
        func end(_ what: String, _ error: DataLoaderError?, isAllowed: Bool) {
            let kind = error?.name ?? "success"
            state.withLock {
                $0.ended += 1
                $0.endings["\(what): \(kind)", default: 0] += 1
                if error == .cancelled { $0.cancelled += 1 }
                if !isAllowed {
                    let reason = error.map { " (\($0))" } ?? ""
                    $0.wrong["\(what) ended \(kind)\(reason)", default: 0] += 1
                }
            }
            pace.step()
        }

        /// Returns when observers were told of every load, or after a minute.
        func settle(on queue: DispatchQueue) async {
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end {
                if tally.isObserved { return }
                await withCheckedContinuation { continuation in
                    queue.asyncAfter(deadline: .now() + .milliseconds(20)) {
                        continuation.resume()
                    }
                }
            }
        }

        /// What is wrong with the POSTs according to the two logs.
        func faults(front: [Int: [String]], behind: [Int: [String]]) -> [String] {
            var faults: [String] = []
            for (number, lines) in front where lines.count > 1 {
                faults.append("POST \(number) came \(lines.count) times: \(lines)")
            }
            for (number, lines) in behind where lines.count > 1 {
                faults.append(
                    "POST \(number) came \(lines.count) times to the server behind: \(lines)")
            }
            for (number, posted) in tally.posts where posted == .notProcessed {
                guard front[number] != nil || behind[number] != nil else { continue }
                faults.append("POST \(number) was received, its error says otherwise")
            }
            return faults.sorted()
        }
    }

    extension SceneLedger.Tally {
        /// Whether observers were told of every load.
        var isObserved: Bool {
            observed - tasks.observed == performed - tasks.performed
                && (tasks.performed - tasks.cancelled...tasks.performed).contains(tasks.observed)
        }
    }

    extension SceneLedger: ConsumptionObserver {
        func endedRequest(
            with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
        ) {
            let version = response.metrics.httpVersion ?? "none"
            let time = response.requestTime - response.metrics.backOffTime
            note {
                $0.observed += 1
                $0.slowest = max($0.slowest, time)
                if response.request.sourceIdentifier == Tasks.source { $0.tasks.observed += 1 }
                $0.versions[version, default: 0] += 1
            }
        }
    }

    /// Triggers an action each time a number of loads has ended.
    final class ScenePace: Sendable {
        private let count = Locked(0)
        private let every: Int
        private let due = DispatchSemaphore(value: 0)

        init(every: Int) {
            self.every = every
        }

        func step() {
            let isDue = count.withLock { count in
                count += 1
                return count % every == 0
            }
            if isDue { due.signal() }
        }

        /// Returns when it is triggered or at the latest at the deadline; blocks its thread.
        func wait(until end: DispatchTime) -> Bool { due.wait(timeout: end) == .success }
    }
#endif
