// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import Foundation
import Testing

/// Names, units, kinds and bounds are those of OpenTelemetry's semantic conventions 1.44 where these
/// name the metric.
@Suite struct MetricFamilyTests {
    struct Row: CustomTestStringConvertible {
        let family: MetricFamily
        let name: String
        let text: String
        let unit: String
        let kind: String
        var bounds: [Double] = []
        /// Whether a service or a log tells it, and not the registry itself.
        var isTold = false

        var testDescription: String { name }
    }

    private static let requestBounds = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    static let rows = [
        Row(
            family: .requestDuration, name: "http.client.request.duration",
            text: "http_client_request_duration_seconds", unit: "s", kind: "histogram",
            bounds: requestBounds),
        Row(
            family: .activeRequests, name: "http.client.active_requests",
            text: "http_client_active_requests", unit: "{request}", kind: "gauge"),
        Row(
            family: .loadDuration, name: "dataloading.load.duration",
            text: "dataloading_load_duration_seconds", unit: "s", kind: "histogram",
            bounds: requestBounds + [30, 60]),
        Row(
            family: .loadWaitDuration, name: "dataloading.load.wait.duration",
            text: "dataloading_load_wait_duration_seconds", unit: "s", kind: "histogram",
            bounds: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60]),
        Row(
            family: .retries, name: "dataloading.retries", text: "dataloading_retries",
            unit: "{retry}", kind: "counter"),
        Row(
            family: .networkIO, name: "dataloading.network.io",
            text: "dataloading_network_io_bytes", unit: "By", kind: "counter"),
        Row(
            family: .logDropped, name: "dataloading.log.dropped", text: "dataloading_log_dropped",
            unit: "{line}", kind: "counter", isTold: true),
        Row(
            family: .logReopenFailures, name: "dataloading.log.reopen.failures",
            text: "dataloading_log_reopen_failures", unit: "{try}", kind: "counter", isTold: true),
        Row(
            family: .cacheHits, name: "dataloading.cache.hits", text: "dataloading_cache_hits",
            unit: "{load}", kind: "counter", isTold: true),
        Row(
            family: .cacheValidated, name: "dataloading.cache.validated",
            text: "dataloading_cache_validated", unit: "{response}", kind: "counter",
            isTold: true),
        Row(
            family: .cacheMisses, name: "dataloading.cache.misses",
            text: "dataloading_cache_misses", unit: "{load}", kind: "counter", isTold: true),
        Row(
            family: .cacheSize, name: "dataloading.cache.size",
            text: "dataloading_cache_size_bytes", unit: "By", kind: "gauge", isTold: true),
        Row(
            family: .cacheEvictions, name: "dataloading.cache.evictions",
            text: "dataloading_cache_evictions", unit: "{response}", kind: "counter",
            isTold: true),
        Row(
            family: .cacheWriteFailures, name: "dataloading.cache.write.failures",
            text: "dataloading_cache_write_failures", unit: "{write}", kind: "counter",
            isTold: true),
        Row(
            family: .telemetryDropped, name: "dataloading.telemetry.dropped",
            text: "dataloading_telemetry_dropped", unit: "{item}", kind: "counter", isTold: true),
        Row(
            family: .observerDropped, name: "dataloading.observer.dropped",
            text: "dataloading_observer_dropped", unit: "{notice}", kind: "counter", isTold: true),
        Row(
            family: .queueSize, name: "dataloading.queue.size", text: "dataloading_queue_size",
            unit: "{load}", kind: "gauge", isTold: true),
        Row(
            family: .queueCapacity, name: "dataloading.queue.capacity",
            text: "dataloading_queue_capacity", unit: "{load}", kind: "gauge", isTold: true),
        Row(
            family: .rateLimit, name: "dataloading.rate.limit",
            text: "dataloading_rate_limit_per_second", unit: "{request}/s", kind: "gauge",
            isTold: true),
        Row(
            family: .rateAdmitted, name: "dataloading.rate.admitted",
            text: "dataloading_rate_admitted", unit: "{request}", kind: "counter", isTold: true),
        Row(
            family: .gateRemaining, name: "dataloading.gate.remaining",
            text: "dataloading_gate_remaining_seconds", unit: "s", kind: "gauge", isTold: true),
        Row(
            family: .gateClosings, name: "dataloading.gate.closings",
            text: "dataloading_gate_closings", unit: "{closing}", kind: "counter", isTold: true),
        Row(
            family: .fleetMembers, name: "dataloading.fleet.members",
            text: "dataloading_fleet_members", unit: "{daemon}", kind: "gauge", isTold: true),
        Row(
            family: .fleetShared, name: "dataloading.fleet.shared",
            text: "dataloading_fleet_shared", unit: "", kind: "gauge", isTold: true),
        Row(
            family: .fleetRefused, name: "dataloading.fleet.refused",
            text: "dataloading_fleet_refused", unit: "{key}", kind: "gauge", isTold: true),
        Row(
            family: .fleetSlotsLeased, name: "dataloading.fleet.slots.leased",
            text: "dataloading_fleet_slots_leased", unit: "{slot}", kind: "counter", isTold: true),
        Row(
            family: .fleetSlotsUsed, name: "dataloading.fleet.slots.used",
            text: "dataloading_fleet_slots_used", unit: "{slot}", kind: "counter", isTold: true),
        Row(
            family: .storeDuration, name: "db.client.operation.duration",
            text: "db_client_operation_duration_seconds", unit: "s", kind: "histogram",
            bounds: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10], isTold: true),
        Row(
            family: .retryBudget, name: "dataloading.retry.budget",
            text: "dataloading_retry_budget", unit: "{token}", kind: "gauge", isTold: true),
        Row(
            family: .addressAvailable, name: "dataloading.address.available",
            text: "dataloading_address_available", unit: "", kind: "gauge", isTold: true),
        Row(
            family: .addressEjections, name: "dataloading.address.ejections",
            text: "dataloading_address_ejections", unit: "{ejection}", kind: "counter",
            isTold: true),
        Row(
            family: .credentialFetches, name: "dataloading.credential.fetches",
            text: "dataloading_credential_fetches", unit: "{fetch}", kind: "counter", isTold: true),
        Row(
            family: .credentialFailures, name: "dataloading.credential.failures",
            text: "dataloading_credential_failures", unit: "{fetch}", kind: "counter",
            isTold: true),
        Row(
            family: .credentialRemaining, name: "dataloading.credential.remaining",
            text: "dataloading_credential_remaining_seconds", unit: "s", kind: "gauge",
            isTold: true),
        Row(
            family: .credentialWaiting, name: "dataloading.credential.waiting",
            text: "dataloading_credential_waiting", unit: "{load}", kind: "gauge", isTold: true),
        Row(
            family: .openConnections, name: "http.client.open_connections",
            text: "http_client_open_connections", unit: "{connection}", kind: "gauge",
            isTold: true),
        Row(
            family: .loopDelay, name: "dataloading.loop.delay.max",
            text: "dataloading_loop_delay_max_seconds", unit: "s", kind: "gauge", isTold: true),
        Row(
            family: .reloadSuccess, name: "dataloading.config.reload.successful",
            text: "dataloading_config_reload_successful", unit: "", kind: "gauge", isTold: true),
        Row(
            family: .reloadTime, name: "dataloading.config.reload.timestamp",
            text: "dataloading_config_reload_timestamp_seconds", unit: "s", kind: "gauge",
            isTold: true),
        Row(
            family: .processorTime, name: "process.cpu", text: "process_cpu_seconds", unit: "s",
            kind: "counter"),
        Row(
            family: .residentMemory, name: "process.resident.memory",
            text: "process_resident_memory_bytes", unit: "By", kind: "gauge"),
        Row(
            family: .openDescriptors, name: "process.open.fds", text: "process_open_fds", unit: "",
            kind: "gauge"),
        Row(
            family: .maxDescriptors, name: "process.max.fds", text: "process_max_fds", unit: "",
            kind: "gauge"),
        Row(
            family: .startTime, name: "process.start.time", text: "process_start_time_seconds",
            unit: "s", kind: "gauge"),
        Row(
            family: .buildInformation, name: "dataloading.build.info",
            text: "dataloading_build", unit: "", kind: "info"),
        Row(
            family: .targetInformation, name: "target.info", text: "target", unit: "",
            kind: "info"),
    ]

    @Test(arguments: rows) func `a family has the name, unit, kind and bounds of the table`(
        _ row: Row
    ) {
        #expect(row.family.name == row.name)
        #expect(row.family.textName == row.text)
        #expect(row.family.unit == row.unit)
        #expect(row.family.kindWord == row.kind)
        #expect(row.family.bounds.map { Double($0) / 1e9 } == row.bounds)
        #expect(!row.family.help.contains { "\\\"\n".contains($0) } && row.family.help.last == ".")
    }

    @Test func `the registry shows the families of the table and no other`() {
        let registry = MetricRegistry.make()
        registry.countEverything()
        let visitor = ListingVisitor()
        registry.visit(visitor)
        let expected = Self.rows.filter { !$0.isTold }.map(\.name)
        #expect(visitor.families.map(\.name) == expected)
    }

    @Test func `the unit of a rate is a word at the end of the name`() {
        let family = MetricFamily("dataloading.rate.limit", unit: "{request}/s", .gauge, "Rate.")
        #expect(family.textName == "dataloading_rate_limit_per_second")
        let named = MetricFamily("gate.seconds", unit: "s", .gauge, "A unit is not said twice.")
        #expect(named.textName == "gate_seconds")
    }

    @Test func `the build's version is the one that the changelog names`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../CHANGELOG.md")
        let changelog = try String(contentsOf: root, encoding: .utf8)
        let name = BuildLabels.version
        #expect(
            changelog.contains("What is to become \(name).") || changelog.contains("## [\(name)]"))
    }
}
