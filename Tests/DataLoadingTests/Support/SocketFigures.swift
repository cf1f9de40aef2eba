// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import Foundation

/// What the process has of everything that only tests with sockets have anything of.
///
/// Whatever runs beside them has pipes, files and threads of Dispatch; none of that is counted. A
/// load, loader or service that somebody keeps shows in the transport that it keeps.
struct SocketFigures: Hashable, Sendable {
    /// Sockets of IPv4 and IPv6, those that listen included.
    var sockets = 0
    /// Threads of the library, by their names.
    var threads = 0
    /// Transports on libcurl, running or not.
    var transports = 0

    /// The present figures; zero where the system does not tell.
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

    /// What there is more of than before, in words.
    func excess(over before: SocketFigures) -> String? {
        let differences = [
            ("sockets", before.sockets, sockets), ("threads", before.threads, threads),
            ("transports", before.transports, transports),
        ]
        let more = differences.filter { $0.1 < $0.2 }.map { "\($0.2) \($0.0), not \($0.1)" }
        return more.isEmpty ? nil : more.joined(separator: ", ")
    }
}
