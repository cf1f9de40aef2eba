// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoading
import DataLoadingSupport

extension SharedQuota {
    /// The way of one daemon to a store in memory.
    public final class Member: QuotaProvider {
        private struct State: Sendable {
            var outage: Outage?
            var delay = Duration.zero
            var counts = FleetCounts()
            var goodbyes = 0
        }

        /// The daemon's name.
        public let name: String
        private let quota: SharedQuota
        private let state = Locked(State())

        init(_ name: String, of quota: SharedQuota) {
            self.name = name
            self.quota = quota
        }

        /// How the store does not answer this daemon; default nil: it answers.
        public var outage: Outage? {
            get { state.withLock { $0.outage } }
            set { state.withLock { $0.outage = newValue } }
        }

        /// How long an answer takes, half of it on the way to the store; default zero.
        public var delay: Duration {
            get { state.withLock { $0.delay } }
            set { state.withLock { $0.delay = newValue } }
        }

        /// How often the daemon has said goodbye.
        public var goodbyes: Int { state.withLock { $0.goodbyes } }

        /// Leases slots by the rules of the script.
        public func lease(_ request: QuotaRequest) async throws -> QuotaLease {
            let known = state.withLock { $0.counts.known(at: quota.clock.instant) }
            let question = QuotaLine.Question(request, of: name, window: window, known: known)
            return question.lease(
                from: try await ask { [quota] in quota.answer(question, about: request.key) })
        }

        /// Closes a key for all daemons.
        public func close(_ key: QuotaKey, for delay: Duration) async throws {
            try await ask { [quota] in quota.close(key, for: delay) }
        }

        /// Says that the daemon is alive.
        public func heartbeat() async throws -> FleetView {
            let (pulse, gates) = try await ask { [quota, name] in quota.heartbeat(of: name) }
            let now = quota.clock.instant
            let known = state.withLock { state in
                state.counts.add(pulse, at: now)
                return state.counts.known(at: now)
            }
            return FleetView(present: pulse.present, known: known, gates: gates)
        }

        /// Says goodbye.
        public func shutDown() async {
            state.withLock { $0.goodbyes += 1 }
            _ = try? await ask { [quota, name] in quota.leave(name) }
        }

        /// Carries a call to the store and its answer back.
        private func ask<Answer: Sendable>(
            _ body: @Sendable () -> Answer
        ) async throws -> Answer {
            try await pass(delay / 2)
            let answer = body()
            try await pass(delay / 2)
            return answer
        }

        private func pass(_ delay: Duration) async throws {
            if delay > .zero { try await quota.clock.sleep(for: delay) }
            switch outage ?? quota.outage {
            case nil: return
            case .silence: try await quota.clock.sleep(for: .milliseconds(250))
            case .refusal: break
            }
            throw Unreachable()
        }
    }

    private struct Unreachable: Error {}
}
