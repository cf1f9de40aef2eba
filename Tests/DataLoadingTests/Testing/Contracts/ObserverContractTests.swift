// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCurl
import DataLoadingSupport
import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// What `checkObserver` finds.
@Suite(.timeLimit(.minutes(5))) struct ObserverContractTests {
    @Test func `the check accepts the library's observers`() async throws {
        let recorder = RecordingObserver()
        try await checkObserver(recorder, limit: .seconds(60)) { recorder.entries.count }
        let lines = EventRecorder<String>()
        let logger = ConsumptionLogger { lines.record($0) }
        try await checkObserver(logger, limit: .seconds(60)) { lines.elements.count }
    }

    @Test func `the check accepts an observer that counts on a queue of its own`() async throws {
        let late = LateObserver()
        try await checkObserver(late, limit: .seconds(60)) { late.count }
    }

    /// Counts when the test's thread has long gone on.
    private final class LateObserver: ConsumptionObserver {
        private let counter = Locked(0)
        private let queue = DispatchQueue(label: "late")

        var count: Int { counter.withLock { $0 } }

        func endedRequest(
            with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
        ) {
            queue.asyncAfter(deadline: .now() + .milliseconds(20)) { [counter] in
                counter.withLock { $0 += 1 }
            }
        }
    }

    private enum Flaw: CaseIterable, Sendable {
        case blocks, slow, successesOnly, twice, dropsConcurrent

        /// Words of the violation that the check has to name.
        var words: String {
            switch self {
            case .blocks: "blocks"
            case .slow: "too slow"
            case .successesOnly: "counts 1 instead of 4"
            case .twice: "counts 8 instead of 4"
            case .dropsConcurrent: "on two queues at once"
            }
        }
    }

    @Test(arguments: Flaw.allCases)
    private func `the check names the rule that an observer breaks`(flaw: Flaw) async {
        // What is slow must be slower where time counts less: longer than the ten times the limit that
        // the check waits where hundreds of tests share the pool's threads.
        let factor = min(patience, 6)
        let observer = FlawedObserver(flaw, slowness: .milliseconds(25 * factor))
        let isWaitedFor = flaw == .blocks || flaw == .slow
        let error = await #expect(throws: ContractViolations.self) {
            try await checkObserver(
                observer, limit: isWaitedFor ? .seconds(8 * factor) : .seconds(60)
            ) { observer.count }
        }
        observer.letGo()
        let violations = error?.violations ?? []
        #expect(violations.contains { $0.contains(flaw.words) }, "\(violations)")
    }

    private final class FlawedObserver: ConsumptionObserver {
        private let flaw: Flaw
        private let slowness: Duration
        private let gate = DispatchSemaphore(value: 0)
        private let counter = Locked(0)
        private let isInside = Locked(false)
        private let isOver = Locked(false)

        init(_ flaw: Flaw, slowness: Duration) {
            self.flaw = flaw
            self.slowness = slowness
        }

        var count: Int { counter.withLock { $0 } }

        /// Ends what blocks or is slow.
        func letGo() {
            isOver.withLock { $0 = true }
            gate.signal()
        }

        func endedRequest(
            with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
        ) {
            switch flaw {
            case .blocks:
                gate.wait()
                gate.signal()
            case .slow: if !isOver.withLock({ $0 }) { usleep(UInt32(slowness / .microseconds(1))) }
            case .successesOnly: if response.error != nil { return }
            case .twice: counter.withLock { $0 += 1 }
            case .dropsConcurrent:
                let isFirst = isInside.withLock { isInside in
                    defer { isInside = true }
                    return !isInside
                }
                guard isFirst else { return }
                usleep(100)
                isInside.withLock { $0 = false }
            }
            counter.withLock { $0 += 1 }
        }
    }
}
