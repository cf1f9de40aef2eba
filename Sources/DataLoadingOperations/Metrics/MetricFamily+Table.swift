// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

// Names, units and bounds of `http.client.*` and `db.client.*` are those of OpenTelemetry's semantic
// conventions 1.44; those of `process.*` give the names that Prometheus' own clients use.
extension MetricFamily {
    /// The bounds that OpenTelemetry advises for HTTP.
    private static let requestBounds: [Int64] = [
        5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000,
    ]

    static let requestDuration = MetricFamily(
        "http.client.request.duration", unit: "s", .histogram(milliseconds: requestBounds),
        "Duration of HTTP client requests, one for each attempt, response body included.")
    static let activeRequests = MetricFamily(
        "http.client.active_requests", unit: "{request}", .upDownCounter,
        "Number of attempts that run.")
    static let loadDuration = MetricFamily(
        "dataloading.load.duration", unit: "s",
        .histogram(milliseconds: requestBounds + [30_000, 60_000]),
        "Duration of loads, all waits and attempts included.")
    static let loadWaitDuration = MetricFamily(
        "dataloading.load.wait.duration", unit: "s",
        .histogram(milliseconds: [1, 10, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000]),
        "Time that loads waited, by what for; a load without a wait counts as zero.")
    static let retries = MetricFamily(
        "dataloading.retries", unit: "{retry}", .counter,
        "Number of retries, with the error of the load; without one where the retry helped.")
    static let networkIO = MetricFamily(
        "dataloading.network.io", unit: "By", .counter,
        "Bytes of requests and responses of loads that ended, heads included.")
    static let logDropped = MetricFamily(
        "dataloading.log.dropped", unit: "{line}", .counter,
        "Number of log lines that were dropped because the log was slow.")
    static let logReopenFailures = MetricFamily(
        "dataloading.log.reopen.failures", unit: "{try}", .counter,
        "Number of times that the file of the log could not be opened again.")
    static let telemetryDropped = MetricFamily(
        "dataloading.telemetry.dropped", unit: "{item}", .counter,
        "Number of spans and data points that the collector did not take.")
    static let observerDropped = MetricFamily(
        "dataloading.observer.dropped", unit: "{notice}", .counter,
        "Number of reports that consumption observers did not receive.")

    static let queueSize = MetricFamily(
        "dataloading.queue.size", unit: "{load}", .upDownCounter,
        "Number of loads that wait for a rate or a connection; a host that is not told has none.")
    static let queueCapacity = MetricFamily(
        "dataloading.queue.capacity", unit: "{load}", .upDownCounter,
        "Number of loads that may wait in all.")
    static let rateLimit = MetricFamily(
        "dataloading.rate.limit", unit: "{request}/s", .gauge,
        "The rate that is set; of hosts without labels the highest one, which holds for each.")
    static let rateAdmitted = MetricFamily(
        "dataloading.rate.admitted", unit: "{request}", .counter,
        "Number of requests that a rate has admitted.")
    static let gateRemaining = MetricFamily(
        "dataloading.gate.remaining", unit: "s", .gauge,
        "Time for which a Retry-After keeps a host or a part of it closed.")
    static let gateClosings = MetricFamily(
        "dataloading.gate.closings", unit: "{closing}", .counter,
        "Number of times that a Retry-After has closed a host or a part of it.")
    static let fleetMembers = MetricFamily(
        "dataloading.fleet.members", unit: "{daemon}", .gauge,
        "Number of daemons among which shared rates are divided.")
    static let fleetShared = MetricFamily(
        "dataloading.fleet.shared", .gauge,
        "Whether the store of shared rates answers; 0 while all loads use the daemon's share, or wait."
    )
    static let fleetRefused = MetricFamily(
        "dataloading.fleet.refused", unit: "{key}", .gauge,
        "Number of hosts and parts whose slots the store refuses while it gives those of others.")
    static let fleetSlotsLeased = MetricFamily(
        "dataloading.fleet.slots.leased", unit: "{slot}", .counter,
        "Number of slots that the store of shared rates has leased to the daemon.")
    static let fleetSlotsUsed = MetricFamily(
        "dataloading.fleet.slots.used", unit: "{slot}", .counter,
        "Number of leased slots that loads have used; the others were too late, or wait.")
    static let storeDuration = MetricFamily(
        "db.client.operation.duration", unit: "s", .histogram(bounds: StoreOperations.bounds),
        "Duration of operations of the store through which rates are shared.")
    static let retryBudget = MetricFamily(
        "dataloading.retry.budget", unit: "{token}", .gauge,
        "Tokens that are left for retries; a host that is not told has all of them.")
    static let addressAvailable = MetricFamily(
        "dataloading.address.available", .gauge,
        "Whether loads use a fallback address; 0 while it is ejected, and until it answers again.")
    static let addressEjections = MetricFamily(
        "dataloading.address.ejections", unit: "{ejection}", .counter,
        "Number of times that a fallback address was ejected.")
    static let credentialFetches = MetricFamily(
        "dataloading.credential.fetches", unit: "{fetch}", .counter,
        "Number of times that a credential was fetched, or is being fetched.")
    static let credentialFailures = MetricFamily(
        "dataloading.credential.failures", unit: "{fetch}", .counter,
        "Number of times that a credential could not be fetched.")
    static let credentialRemaining = MetricFamily(
        "dataloading.credential.remaining", unit: "s", .gauge,
        "Time until a credential expires, of several of a name the shortest; 0 without one.")
    static let credentialWaiting = MetricFamily(
        "dataloading.credential.waiting", unit: "{load}", .upDownCounter,
        "Number of loads that wait for a credential.")
    static let cacheHits = MetricFamily(
        "dataloading.cache.hits", unit: "{load}", .counter,
        "Number of loads that were answered without their server.")
    static let cacheValidated = MetricFamily(
        "dataloading.cache.validated", unit: "{response}", .counter,
        "Number of stored responses that their servers have confirmed.")
    static let cacheMisses = MetricFamily(
        "dataloading.cache.misses", unit: "{load}", .counter,
        "Number of loads for which nothing was stored that could answer or be validated.")
    static let cacheSize = MetricFamily(
        "dataloading.cache.size", unit: "By", .gauge, "Bytes that are stored.")
    static let cacheEvictions = MetricFamily(
        "dataloading.cache.evictions", unit: "{response}", .counter,
        "Number of responses that had to leave for others.")
    static let cacheWriteFailures = MetricFamily(
        "dataloading.cache.write.failures", unit: "{write}", .counter,
        "Number of times that the disk has refused to take a response.")
    static let openConnections = MetricFamily(
        "http.client.open_connections", unit: "{connection}", .upDownCounter,
        "Number of open connections. As many are active as attempts run; over HTTP/2 fewer may be.")
    static let loopDelay = MetricFamily(
        "dataloading.loop.delay.max", unit: "s", .gauge,
        "Longest time of the last minute for which a thread of the transport was busy.")
    static let reloadSuccess = MetricFamily(
        "dataloading.config.reload.successful", .gauge,
        "Whether the last reload of the configuration succeeded.")
    static let reloadTime = MetricFamily(
        "dataloading.config.reload.timestamp", unit: "s", .gauge,
        "Time of the last successful reload since the Unix epoch.")

    static let processorTime = MetricFamily(
        "process.cpu", unit: "s", .counter, "User and system time of the process.")
    static let residentMemory = MetricFamily(
        "process.resident.memory", unit: "By", .gauge, "Resident memory of the process.")
    static let openDescriptors = MetricFamily(
        "process.open.fds", .gauge, "Number of open file descriptors.")
    static let maxDescriptors = MetricFamily(
        "process.max.fds", .gauge, "Maximum number of open file descriptors.")
    static let startTime = MetricFamily(
        "process.start.time", unit: "s", .gauge, "Start of the process since the Unix epoch.")

    static let buildInformation = MetricFamily(
        "dataloading.build.info", .info, "The version of DataLoading; always 1.")
    static let targetInformation = MetricFamily(
        "target.info", .info, "The service that is measured; always 1.")
}
