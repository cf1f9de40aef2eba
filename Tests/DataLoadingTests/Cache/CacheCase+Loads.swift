// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingCache
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

extension CacheCase {
    /// Runs the case with the loads of a service that has a cache.
    func withLoads() async -> [String] {
        let origin = Locked(Step())
        let bed = CacheBed().bed(
            [], otherwise: .run { Self.answer($0, origin.withLock { $0 }) },
            clock: ManualClock(
                date: Date(timeIntervalSince1970: TimeInterval(CacheHistory.epoch))))
        var findings: [String] = []
        for (index, step) in steps.enumerated() {
            let now = CacheMoment(of: bed.service.runtime.timekeeper)
            var present = step
            present.answer = Self.headers(step.answer, now).fields.map { ($0.name, $0.value) }
            origin.withLock { [present] in $0 = present }
            let request = DataLoaderRequest.make {
                $0.method = step.method
                $0.headers = Self.headers(step.fields, now)
                $0.redirectPolicy = .doNotFollow
            }
            let outcome: CacheHistory.Outcome
            do {
                outcome = Self.outcome(try await bed.loader.response(for: request))
            } catch DataLoaderError.notCached {
                outcome = CacheHistory.Outcome(way: .unavailable)
            } catch {
                outcome = CacheHistory.Outcome(way: .failed)
            }
            findings += step.findings(outcome).map { "\(id), load \(index): \($0)" }
            // A load in the background may validate what was used.
            await eventually { bed.service.runtime.liveLoads.live == 0 }
            bed.clock.advance(by: step.pause)
        }
        return findings
    }

    /// Answers an attempt; an origin that is asked with a condition that holds says 304.
    private static func answer(_ attempt: ScriptedAttempt, _ step: Step) {
        guard !step.breaksConnection else {
            return attempt.fail(.connectionReset, sent: .headReceived)
        }
        let headers = HTTPHeaders(step.answer.map { .init(name: $0.0, value: $0.1) })
        let sent = attempt.request.headers
        let isSame =
            if let tag = sent["If-None-Match"] {
                headers["ETag"] == tag
            } else {
                sent["If-Modified-Since"].map { headers["Last-Modified"] == $0 } ?? false
            }
        let isConfirmed = step.status == .ok && isSame
        attempt.respond(status: isConfirmed ? 304 : step.status.rawValue, headers: headers)
    }

    private static func outcome(_ response: DataLoaderResponse) -> CacheHistory.Outcome {
        let way: CacheHistory.Outcome.Way =
            switch response.metrics.source {
            case .cache: response.statusCode == .notModified ? .notModified : .reused
            case .stale: response.metrics.attempts == 0 ? .reused : .usedOnError
            case .validated: .validated
            case .network, .coalesced, .interceptor: .forwarded
            }
        return CacheHistory.Outcome(
            way: way, status: response.statusCode, headers: response.headers)
    }
}
