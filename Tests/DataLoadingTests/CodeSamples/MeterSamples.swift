// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Synchronization
import Testing

// The worked example of a budget of bytes for each feature and day.

/// Counts the bytes of each feature and day, and says what is left of its budget.
final class TrafficMeter: ConsumptionObserver {
    private struct Day {
        var number = 0
        var bytes: [String: Int64] = [:]
    }

    private let budget: Int64
    private let now: @Sendable () -> Date
    private let today = Mutex(Day())

    init(dailyBudget: Int64, now: @escaping @Sendable () -> Date = { Date() }) {
        budget = dailyBudget
        self.now = now
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let feature = response.request.sourceIdentifier ?? "-"
        count(bytesDownloaded + bytesUploaded, of: feature)
    }

    /// The bytes that a feature may still send and receive on this day, in UTC.
    func bytesLeft(for feature: String) -> Int64 { max(0, budget - count(0, of: feature)) }

    @discardableResult private func count(_ bytes: Int64, of feature: String) -> Int64 {
        let number = Int(now().timeIntervalSince1970) / 86_400
        return today.withLock { day in
            // A clock that is set back does not give the budget a second time.
            if number > day.number { day = Day(number: number) }
            day.bytes[feature, default: 0] += bytes
            return day.bytes[feature, default: 0]
        }
    }
}

/// Loads pictures until the day's budget is used up.
struct Pictures: Sendable {
    struct BudgetIsUsedUp: Error {}

    let loader: DataLoader
    let meter: TrafficMeter

    func picture(at url: URL) async throws -> Data {
        guard meter.bytesLeft(for: "pictures") > 0 else { throw BudgetIsUsedUp() }
        let call = loader.request(url, sourceIdentifier: "pictures")
        return try await call.validateStatusCode().responseData()
    }
}

@Suite(.timeLimit(.minutes(5))) struct MeterSamples {
    @Test func `the sample of a meter counts every load of its feature, and stops it for the day`()
        async throws
    {
        let bed = TestBed(otherwise: .respond(status: 200, body: Data(count: 600)))
        let (service, queue) = (bed.service, DispatchQueue(label: "meter"))
        let date = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let meter = TrafficMeter(dailyBudget: 1_000) { date.withLock { $0 } }
        service.addConsumptionObserver(meter, on: queue)
        let pictures = Pictures(loader: bed.loader, meter: meter)
        let url = testURL("http://origin.test/a.png")
        func load() async throws {
            _ = try await pictures.picture(at: url)
            // The observers are told after the caller, together after ten milliseconds.
            bed.settle()
            bed.advance(.milliseconds(10))
            queue.sync {}
        }
        try await load()
        #expect(meter.bytesLeft(for: "pictures") == 400)
        try await load()
        #expect(meter.bytesLeft(for: "pictures") == 0)
        await #expect(throws: Pictures.BudgetIsUsedUp.self) { try await load() }
        #expect(meter.bytesLeft(for: "feed") == 1_000)
        #expect(bed.transport.attempts.count == 2)

        date.withLock { $0 += 86_400 }
        try await load()
        #expect(meter.bytesLeft(for: "pictures") == 400)
        date.withLock { $0 -= 86_400 }
        #expect(meter.bytesLeft(for: "pictures") == 400)
    }

    @Test func `the sample of a meter counts loads that fail or are cancelled`() async {
        let bed = TestBed([
            .run { attempt in
                attempt.sendHead(status: 200)
                attempt.send(Data(count: 300))
                attempt.fail(.truncatedBody, sent: .headReceived)
            }
        ])
        let queue = DispatchQueue(label: "meter")
        let meter = TrafficMeter(dailyBudget: 1_000) { Date(timeIntervalSince1970: 1_000_000) }
        bed.service.addConsumptionObserver(meter, on: queue)
        bed.loader.perform(.make { $0.sourceIdentifier = "pictures" })
        _ = await bed.outcome()
        bed.settle()
        bed.advance(.milliseconds(10))
        queue.sync {}
        #expect(meter.bytesLeft(for: "pictures") == 700)
    }
}
