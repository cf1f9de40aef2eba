// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingAuth
import DataLoadingSupport
import DataLoadingTesting
import DataLoadingTransport
import Foundation
import Testing

/// What a scrape reads of a service, and of what it is given.
@Suite struct ServiceMetricsTests {
    private let registry = MetricRegistry.make()

    private func samples(_ name: String) -> [ExpositionParser.Sample] {
        registry.samples(named: name)
    }

    @Test func `open connections are active while attempts run, and idle after them`() throws {
        let host = registry.hosts.label(forURL: "https://api.test/")
        registry.add { [weak registry] visitor in
            guard let registry else { return }
            let connections = [
                try? RequestTarget(text: "https://api.test/").origin: 3,
                try? RequestTarget(text: "https://one.test/").origin: 1,
                try? RequestTarget(text: "https://two.test/").origin: 2,
            ]
            let known = connections.compactMap { origin, count in origin.map { ($0, count) } }
            visitor.add(
                Dictionary(uniqueKeysWithValues: known), running: registry.activeRequests,
                registry.hosts)
        }
        func open() -> [String: Double] {
            samples("http_client_open_connections").reduce(into: [:]) { found, sample in
                let labels = ["server_address", "server_port", "http_connection_state"]
                let name = labels.compactMap { sample.labels[$0] }.joined(separator: " ")
                found[name] = sample.value
            }
        }
        let others = ["_OTHER active": 0.0, "_OTHER idle": 3]
        #expect(
            open() == ["api.test 443 active": 0, "api.test 443 idle": 3].merging(others) { $1 })
        for _ in 0..<2 { registry.attemptBegan(ActiveLabels(host: host, method: .get)) }
        registry.attemptBegan(ActiveLabels(host: host, method: .post))
        registry.attemptEnded(.make(host, 200), nanoseconds: 1)
        #expect(open()["api.test 443 active"] == 2)
        #expect(open()["api.test 443 idle"] == 1)
        // Attempts that share a connection of HTTP/2.
        for _ in 0..<9 { registry.attemptBegan(ActiveLabels(host: host, method: .get)) }
        #expect(open()["api.test 443 active"] == 3)
        #expect(open()["api.test 443 idle"] == 0)
    }

    @Test func `addresses of hosts with labels tell whether they are used, and their ejections`()
        async
    {
        let bed = TestBed(otherwise: .respond(status: 200)) { configuration in
            configuration.resolver.setAddresses(["10.0.0.1"], forHost: "api.test")
            configuration.resolver.setAddresses(["10.0.0.9"], forHost: "other.test")
        }
        registry.observe(bed.service)
        func values(_ name: String) -> [String?: Double] {
            samples(name).reduce(into: [:]) { found, sample in
                #expect(sample.labels["server_address"] == "api.test")
                found[sample.labels["network_peer_address"]] = sample.value
            }
        }
        #expect(values("dataloading_address_available") == ["10.0.0.1": 1, "api.test": 1])
        #expect(
            values("dataloading_address_ejections_total") == ["10.0.0.1": 0, "api.test": 0])
        bed.service.resolver.markAddressAsUnreachable("10.0.0.1")
        #expect(values("dataloading_address_available") == ["10.0.0.1": 0, "api.test": 1])
        #expect(
            values("dataloading_address_ejections_total") == ["10.0.0.1": 1, "api.test": 0])
        bed.service.resolver.setAddresses(["10.0.0.2"], forHost: "api.test")
        #expect(values("dataloading_address_available") == ["10.0.0.2": 1, "api.test": 1])
        bed.settle()
    }

    @Test func `addresses are no more than other series, however many are configured`() {
        let addresses = (0..<1_000).map { "10.0.\($0 / 250).\($0 % 250)" }
        let bed = TestBed(otherwise: .respond(status: 200)) {
            $0.resolver.setAddresses(addresses, forHost: "api.test")
        }
        registry.observe(bed.service)
        #expect(samples("dataloading_address_available").count == 200)
        bed.settle()
    }

    /// An authoriser that says what a test wants.
    private final class Holder: ObservableAuthoriser {
        private let state: Locked<CredentialState>

        init(_ name: String, _ fetches: Int, _ failures: Int = 0) {
            state = Locked(Self.state(name, fetches, failures))
        }

        var credentialState: CredentialState { state.withLock { $0 } }

        func set(_ fetches: Int, _ failures: Int) {
            state.withLock { $0 = Self.state($0.authoriser, fetches, failures) }
        }

        func authorise(_ request: DataLoaderRequest) -> Authorisation { .unchanged }

        private static func state(
            _ name: String, _ fetches: Int, _ failures: Int
        ) -> CredentialState {
            CredentialState(
                authoriser: name, isUsable: true, remaining: nil, fetches: fetches,
                failures: failures, hasFailed: false, waiting: 0)
        }
    }

    @Test func `what credentials have counted stays when their authorisers have gone`() {
        var totals = CredentialTotals()
        var first: Holder? = Holder("a", 3, 1)
        let second = Holder("a", 5)
        var found = totals.look(at: [first, second].compactMap(\.self))
        #expect(found["a"]?.total == CredentialTotals.Total(fetches: 8, failures: 1))
        // The first is absent for a while, and comes back.
        second.set(6, 2)
        found = totals.look(at: [second])
        #expect(found["a"]?.total == CredentialTotals.Total(fetches: 9, failures: 3))
        #expect(found["a"]?.states.count == 1)
        first?.set(4, 1)
        found = totals.look(at: [first, second].compactMap(\.self))
        #expect(found["a"]?.total == CredentialTotals.Total(fetches: 10, failures: 3))
        first = nil
        found = totals.look(at: [Holder("a", 2)])
        #expect(found["a"]?.total == CredentialTotals.Total(fetches: 12, failures: 3))
        found = totals.look(at: [])
        #expect(found["a"]?.total == CredentialTotals.Total(fetches: 12, failures: 3))
        #expect(found["a"]?.states.isEmpty == true)
        // Names are bounded.
        for number in 0..<100 { _ = totals.look(at: [Holder("n\(number)", 1)]) }
        found = totals.look(at: [])
        #expect(found.count == CredentialTotals.maxNames + 1)
        #expect(found["_OTHER"]?.total.fetches == 37)
    }

    @Test func `fetches of a credential are counted, and those that failed`() async {
        let bed = TestBed(otherwise: .respond(status: 200))
        let authoriser = TokenAuthoriser(hosts: ["api.test"], clock: bed.clock) { _ in
            throw TestFailure()
        }
        registry.observe(bed.service)
        let loader = bed.service.makeFactory(authorisers: [authoriser]).makeDataLoader()
        _ = try? await loader.response(for: .make(host: "https://api.test"))
        #expect(registry.total("dataloading_credential_fetches_total") == 1)
        #expect(registry.total("dataloading_credential_failures_total") == 1)
        #expect(bed.service.snapshot().credentials.map(\.hasFailed) == [true])
        #expect(bed.service.snapshot().credentials.map(\.lastFailure) == ["TestFailure"])
    }

    @Test func `rates and addresses have no more series than the settings allow`() throws {
        let bed = TestBed(otherwise: .respond(status: 200))
        let small = MetricRegistry.make(maxSeries: 5)
        small.observe(bed.service)
        for number in 0..<9 {
            let url = testURL("https://api.test/p\(number)/")
            bed.service.rateLimiter.setRequestsPerSecond(1, forPathOf: url)
        }
        let addresses = (1...9).map { "192.0.2.\($0)" }
        bed.service.resolver.setAddresses(addresses, forHost: "api.test")
        let counts = Dictionary(grouping: small.samples(), by: \.name).mapValues(\.count)
        let names = [
            "dataloading_rate_limit_per_second", "dataloading_rate_admitted_total",
            "dataloading_gate_remaining_seconds", "dataloading_address_available",
        ]
        for name in names {
            // One set is kept for the hosts without labels, which have done nothing.
            let least = name.hasPrefix("dataloading_rate_limit") || name.contains("_gate_") ? 3 : 4
            #expect((least...5).contains(counts[name] ?? 0), "\(name): \(counts[name] ?? 0)")
        }
    }

    @Test func `the operations of a store are told, also when the service has ended`() async {
        let member = MeasuredMember()
        let bed = TestBed(otherwise: .respond(status: 200)) { configuration in
            configuration.rateLimiter.share(through: member, expectedMembers: 1)
        }
        registry.observe(bed.service)
        let name = "db_client_operation_duration_seconds"
        for _ in 0..<2 {
            #expect(registry.total(name + "_count") == 2)
            #expect(registry.total(name + "_sum") == 0.75)
            #expect(samples(name + "_count").first?.labels["db_system_name"] == "redis")
            await bed.service.shutDown(gracePeriod: .zero)
        }
    }

    /// A member whose store has had two operations.
    private final class MeasuredMember: MeasuredQuotaProvider {
        let storeSystem = "redis"
        private let member = SharedQuota(clock: ManualClock()).makeMember("a")

        var storeOperations: StoreOperations {
            var operations = StoreOperations()
            let kind = StoreOperations.Kind(command: "EVALSHA", script: "lease")
            for duration in [0.5, 0.25] { operations.note(kind, took: .seconds(duration)) }
            return operations
        }

        func lease(_ request: QuotaRequest) async throws -> QuotaLease {
            try await member.lease(request)
        }

        func close(_ key: QuotaKey, for delay: Duration) async throws {
            try await member.close(key, for: delay)
        }

        func heartbeat() async throws -> FleetView { try await member.heartbeat() }

        func shutDown() async { await member.shutDown() }
    }

    @Test func `slots of a fleet are counted where they are leased and where they are used`()
        async throws
    {
        let clock = ManualClock()
        let quota = SharedQuota(clock: clock)
        let bed = TestBed(otherwise: .respond(status: 200), clock: clock) { configuration in
            configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 100)
            configuration.rateLimiter.share(
                through: quota.makeMember("a"), expectedMembers: 1, whenLost: .pause)
        }
        registry.observe(bed.service)
        #expect(registry.total("dataloading_fleet_slots_used_total") == 0)
        for _ in 0..<20 { bed.loader.perform(.make()) }
        try await clock.autoAdvance { try await clock.sleep(for: .seconds(3)) }
        #expect(registry.total("dataloading_fleet_slots_used_total") == 20)
        #expect(registry.total("dataloading_fleet_slots_leased_total") >= 20)
        #expect(registry.total("dataloading_fleet_members") == 1)
        await bed.service.shutDown(gracePeriod: .zero)
    }
}
