// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingCache
import DataLoadingSupport
import DataLoadingTesting
import Foundation

/// What a dashboard shows of loads that a test makes up, on a clock that the test moves.
final class DashboardScene: Sendable {
    let clock = ManualClock()
    let state: LiveState
    private let lastLoad = Locked<Int64>(0)

    init() {
        state = LiveState(clock.timekeeper)
    }

    /// An attempt that is told to the dashboard when it has taken its time.
    struct Attempt {
        var seconds = 0.1
        var status: HTTPStatus? = 200
        var error: DataLoaderError?
        var cause: AttemptContext.Cause?
        var isInternal = false
        var report = TransportReport()
    }

    /// The number of loads that were made, which is the number of the last one.
    var loadsMade: Int64 { lastLoad.withLock { $0 } }

    /// The number that the next load gets.
    func nextLoad() -> Int64 {
        lastLoad.withLock { last in
            last += 1
            return last
        }
    }

    /// Moves the clock by the time of an attempt, and tells of its end.
    func run(_ attempt: Attempt, of load: Int64, url: String = "https://api.test/a?secret=1") {
        let (begun, date) = (clock.instant, clock.date)
        clock.advance(by: .saturating(seconds: attempt.seconds))
        var context = AttemptContext()
        context.load = load
        context.cause = attempt.cause
        context.isInternal = attempt.isInternal
        state.attemptEnded(
            AttemptRecord(
                context: context, reportedLoad: load, method: .get, url: testURL(url),
                template: nil, host: .other, parent: nil, span: nil, begun: begun,
                ended: clock.instant, date: date,
                status: attempt.status, error: attempt.error, report: attempt.report))
    }

    /// Tells of the end of a load, which was `late` before.
    func end(
        _ load: Int64, feature: String? = "feed", url: String = "https://api.test/a?secret=1",
        status: HTTPStatus? = 200, error: DataLoaderError? = nil, bytes: Int64 = 1_000,
        late: Duration = .zero,
        _ change: (inout LoadMetrics) -> Void = { $0.totalTime = .milliseconds(100) }
    ) {
        var metrics = LoadMetrics()
        metrics.load = load
        change(&metrics)
        let request = DataLoaderRequest(url: testURL(url), sourceIdentifier: feature)
        var draft = DataLoaderResponse.Draft(
            request, number: load, begun: clock.instant + (.zero - late - metrics.totalTime))
        draft.count { $0 = metrics }
        let head = status.map { ResponseHead(status: $0, headers: HTTPHeaders()) }
        state.endedRequest(
            with: draft.response(error, head, nil), bytesDownloaded: bytes, bytesUploaded: 0)
    }

    /// Makes so many loads of one attempt each, which take 100 ms each.
    func load(_ count: Int, feature: String? = "feed", error: DataLoaderError? = nil) {
        for _ in 0..<count {
            let number = nextLoad()
            run(Attempt(error: error), of: number)
            end(number, feature: feature, status: error == nil ? 200 : nil, error: error)
        }
    }

    /// The snapshot as a reader of JSON has it.
    var snapshot: [String: Any] {
        let bytes = state.snapshot()
        return (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }

    var features: [[String: Any]] { snapshot["features"] as? [[String: Any]] ?? [] }

    var sentence: String { snapshot["sentence"] as? String ?? "" }

    /// The loads after a number, and the number of the last of them.
    func loads(after number: Int64 = 0) -> (loads: [[String: Any]], last: Int64)? {
        state.loads(after: number).map { data, last in
            let json = try? JSONSerialization.jsonObject(with: Data(data))
            return (json as? [[String: Any]] ?? [], last)
        }
    }
}

extension ServiceSnapshot {
    /// A snapshot with what a test says.
    static func make(
        stage: Stage = .open, waiting: Int = 0, running: Int = 0, origins: [OriginState] = [],
        limiter: RateLimiter? = nil, addresses: [AddressState] = [],
        credentials: [CredentialState] = [], sharing: SharingState? = nil,
        cache: CacheStatistics? = nil, transport: TransportSnapshot? = nil
    ) -> ServiceSnapshot {
        var configuration = DataLoaderService.Configuration()
        if let limiter { configuration.rateLimiter = limiter }
        configuration.transport = ScriptedTransport()
        let real = DataLoaderService(configuration: configuration).snapshot()
        return ServiceSnapshot(
            stage: stage, liveLoads: running + waiting, waiting: waiting,
            queueCapacity: real.queueCapacity, running: running, origins: origins,
            otherOrigins: 0, rules: real.rules, otherRules: real.otherRules,
            defaultRequestsPerSecond: real.defaultRequestsPerSecond, sharing: sharing,
            addresses: addresses,
            otherAddresses: 0, credentials: credentials, otherCredentials: 0,
            cache: cache, transport: transport, droppedConsumptionNotices: 0)
    }
}
