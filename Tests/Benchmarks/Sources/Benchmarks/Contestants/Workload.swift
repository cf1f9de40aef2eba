// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP that a client is to speak over TLS.
enum HTTPVersion: String, Codable, Sendable {
    case http1 = "HTTP/1.1"
    case http2 = "HTTP/2"
}

/// The task of every client: GET one URL with one header field, at a given concurrency.
struct Workload: Codable, Sendable {
    /// How an https server is to be reached.
    struct Security: Codable, Sendable {
        let version: HTTPVersion
        /// The file with the server's authority, in PEM form.
        let authorities: String
    }

    /// Loads that never end, besides those that are counted.
    struct Idle: Codable, Sendable {
        let url: String
        let count: Int
    }

    /// The URL, at a numeric address.
    let url: String
    /// The number of concurrent loads.
    let concurrency: Int
    /// What an https URL needs; nil for http.
    var security: Security?
    /// The requests to send in turn instead of the one, all to this machine.
    var mix: [MixedRequest]?
    /// Loads that are in progress all the time.
    var idle: Idle?
    /// The number of event loops; nil for one.
    var loops: Int?
    /// The number of features that take turns to load the URL; nil for one.
    var sources: Int?

    init(url: String, concurrency: Int) {
        self.url = url
        self.concurrency = concurrency
    }

    /// The field that each request carries.
    static let field = (name: "Authorization", value: "Bearer benchmark")
}

/// One of several requests that differ.
struct MixedRequest: Codable, Sendable {
    let method: String
    let url: String
    /// Pairs of a name and a value.
    let fields: [[String]]
    let body: String?
}
