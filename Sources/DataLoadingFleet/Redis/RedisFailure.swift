// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

/// Why there is no connection to a server, or no longer.
enum RedisFailure: Error, Hashable, Sendable {
    /// The configuration has no endpoint.
    case noEndpoint
    /// The process can have no further thread or descriptor.
    case resources
    /// The process was forked, and its copy has no thread of the client.
    case forked
    /// The closure of the password has thrown.
    case password
    /// The connection could not be made, its peer is not trusted, or it broke.
    case connection(DataLoaderError)
    /// The server has ended the connection.
    case closed
    /// The server did not answer in time, although its connection is open.
    case silent
    /// The server refused the greeting: a wrong password, a missing right, or an old version.
    case refused(RESPError)
    /// The server is not the master; the payload is what it says it is.
    case notMaster(role: String)
    /// The server is not the one to ask, or not now: READONLY, LOADING, MASTERDOWN, CLUSTERDOWN,
    /// MOVED.
    case elsewhere(RESPError)
    /// The server sent what is no reply, or more than is taken.
    case malformed(RESPFault)
}

extension RedisFailure: CustomStringConvertible {
    /// The reason, without a key, a password or a text of the server.
    var description: String {
        switch self {
        case .noEndpoint: "there is no endpoint"
        case .resources: "the process is out of threads or descriptors"
        case .forked: "the process was forked"
        case .password: "the password could not be read"
        case .connection(let error): "\(error)"
        case .closed: "the server closed the connection"
        case .silent: "the server does not answer"
        case .refused(let error): "the server refused the greeting: \(error)"
        case .notMaster(let role): "the server is no master but \(role.shownAsWord)"
        case .elsewhere(let error): "the server sends elsewhere: \(error)"
        case .malformed(let fault): "the server's reply is malformed: \(fault)"
        }
    }
}

extension String {
    /// At most 16 letters of a server's word.
    fileprivate var shownAsWord: String {
        let letters = utf8.map(\.asciiLowercased)
            .prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let word = String(decoding: letters.prefix(16), as: UTF8.self)
        return word.isEmpty ? "something else" : word
    }
}
