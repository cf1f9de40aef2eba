// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingOperations

/// How a service is watched.
enum Watching: String, CaseIterable, Codable, Sendable {
    case nothing
    case metrics
    /// Metrics that are read as text ten times a second.
    case scraped = "metrics read"
    /// Metrics, and a log in JSON whose reader reads.
    case log = "metrics and log"
    /// Metrics, and a log in JSON whose reader has stopped.
    case stalledLog = "log that is stuck"

    var hasLog: Bool { self == .log || self == .stalledLog }

    /// What the service is watched with; the log goes to a file.
    func configuration(log: String) -> OperationsConfiguration? {
        guard self != .nothing else { return nil }
        var configuration = OperationsConfiguration(environment: [:])
        configuration.serviceName = "benchmark"
        configuration.labelledHosts = .only(["origin.test"])
        if hasLog { configuration.log = AccessLog(.json, to: .file(log)) }
        return configuration
    }
}
