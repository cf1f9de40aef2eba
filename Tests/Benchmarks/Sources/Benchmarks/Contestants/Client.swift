// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The task of every client: GET one URL with one header field, at a given concurrency.
struct Workload: Sendable {
    /// The URL, at a numeric address.
    let url: String
    /// The number of concurrent loads.
    let concurrency: Int

    /// The field that each request carries.
    static let field = (name: "Authorization", value: "Bearer benchmark")
}

/// A running client, in a process of its own.
protocol Client: Sendable {
    /// Loads the URL this many times and returns the number of failed loads.
    func run(_ requests: Int) async -> Int
}
