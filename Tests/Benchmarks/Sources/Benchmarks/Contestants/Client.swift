// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A running client, in a process of its own.
protocol Client: Sendable {
    /// Starts so many loads that never end, and returns.
    func hold(_ idle: Workload.Idle)
    /// Loads the URL this many times and returns the number of failed loads.
    func run(_ requests: Int) async -> Int
}

extension Client {
    /// Most clients are not asked to.
    func hold(_ idle: Workload.Idle) {}
}

/// A client that can start a load at any time.
protocol SingleClient: Client {
    /// Loads the URL and returns whether that succeeded.
    func loadOne() async -> Bool
}
