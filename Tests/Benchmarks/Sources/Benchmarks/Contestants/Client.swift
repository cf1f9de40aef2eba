// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What every client is asked to do: GET one URL with one header field, so many times at once.
struct Workload: Sendable {
    /// The URL, at a numeric address.
    let url: String
    /// How many loads are in flight at once.
    let concurrency: Int

    /// The field that each request carries.
    static let field = (name: "Authorization", value: "Bearer benchmark")
}

/// A contestant at work, in a process of its own.
protocol Client: Sendable {
    /// Loads the URL so many times; answers how many loads failed.
    func run(_ requests: Int) async -> Int
}
