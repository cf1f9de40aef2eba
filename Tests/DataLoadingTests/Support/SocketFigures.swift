// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoadingCurl
@testable import DataLoading
import Foundation

/// The resources of the process that only tests with sockets use.
///
/// Concurrent tests use pipes, files and Dispatch threads, which are not counted. A retained load,
/// loader or service shows in the transport that it retains.
struct SocketFigures: Hashable, Sendable {
    /// The number of IPv4 and IPv6 sockets, including listening ones.
    var sockets = 0
    /// The number of threads of the library, found by their names.
    var threads = 0
    /// The number of libcurl transports, running or not.
    var transports = 0

    /// The present figures; zero where the system has none.
    static var now: SocketFigures {
        var figures = SocketFigures()
        #if os(Linux)
            figures.sockets = ProcessFigures.sockets
            figures.threads = ProcessFigures.libraryThreads
        #endif
        #if DEBUG && (canImport(Glibc) || canImport(Musl))
            figures.transports = CurlTransport.count
        #endif
        return figures
    }

    /// The figures that have grown, in words.
    func excess(over before: SocketFigures) -> String? {
        let differences = [
            ("sockets", before.sockets, sockets), ("threads", before.threads, threads),
            ("transports", before.transports, transports),
        ]
        let more = differences.filter { $0.1 < $0.2 }.map { "\($0.2) \($0.0), not \($0.1)" }
        return more.isEmpty ? nil : more.joined(separator: ", ")
    }
}
