// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting

/// A connection on which half an answer was sent, as its server sees it.
struct HungConnection: Sendable {
    let server: LoopbackServer
    let number: Int

    /// Returns when the server has seen the client close it; throws when the task is cancelled.
    func closed() async throws {
        while server.connections.first(where: { $0.number == number })?.isOpen == true {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
