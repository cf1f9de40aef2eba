// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingAuth
import DataLoadingOperations
import Foundation

/// What `--operations` adds to the daemon: metrics, a log, systemd's messages, and the reload.
struct Supervision {
    private let operations: Operations
    private let file: String?
    private let stream: EventStream

    /// Puts itself around the service whose configuration this is.
    init(
        _ options: Arguments.Options, instrumenting service: inout DataLoaderService.Configuration,
        stream: EventStream
    ) {
        var settings = OperationsConfiguration()
        settings.log = options.log.map { format in
            AccessLog(format == .json ? .json : .logfmt, to: .standardError)
        }
        settings.endpoint = Self.endpoint
        operations = Operations(settings, instrumenting: &service)
        file = options.file
        self.stream = stream
    }

    /// The dashboard: on a socket in the unit's `RuntimeDirectory=`, which others may not enter, or on
    /// a free port with a token of this run.
    private static var endpoint: OperationsEndpoint {
        let directory = ProcessInfo.processInfo.environment["RUNTIME_DIRECTORY"]
        var endpoint =
            directory.map { .unixSocket($0 + "/operations.sock") }
            ?? OperationsEndpoint.loopback(port: 0, token: OperationsEndpoint.makeToken())
        endpoint.servesDashboard = true
        return endpoint
    }

    /// Tells systemd that the daemon is ready.
    func start(for service: DataLoaderService) throws {
        try operations.start(for: service)
        announce(operations)
    }

    /// Tells operators where to look.
    private func announce(_ operations: Operations) {
        if let url = operations.endpointURL {
            stream.note("operations", "are shown at \(url.absoluteString)")
        }
        let process = ProcessInfo.processInfo.processIdentifier
        stream.note("operations", "kill -HUP \(process) reads the configuration again")
    }

    /// Reads the file again; returns the new configuration, or nil when nothing has changed.
    func reload(
        _ old: FeedConfiguration, _ service: DataLoaderService, _ authoriser: StaticTokenAuthoriser?
    ) -> FeedConfiguration? {
        guard let file else {
            operations.reload {}
            stream.note("daemon", "has no file to read again")
            return nil
        }
        var new = old
        do {
            try operations.reload {
                new = try ConfigurationFile.read(file)
                try new.apply(to: service, authoriser)
            }
        } catch {
            stream.note("daemon", "keeps its configuration: \(error)")
            operations.showStatus("keeps its configuration: \(error)")
            return nil
        }
        let late = old.keysForNextStart(in: new).joined(separator: ", ")
        let status = "has read \(file)" + (late.isEmpty ? "" : "; for the next start: \(late)")
        stream.note("daemon", status)
        operations.showStatus(status)
        return new
    }

    /// Tells systemd that the daemon ends, and ends it.
    func shutDown(gracePeriod: Duration) async {
        await operations.shutDown(gracePeriod: gracePeriod)
    }
}
