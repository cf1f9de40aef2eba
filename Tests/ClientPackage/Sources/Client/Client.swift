// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program of another package: compiled, and run only when told to.
@main
enum Client {
    static func main() async throws {
        useTimer()
        guard let text = CommandLine.arguments.dropFirst().first, let url = URL(string: text) else {
            return print("Client URL")
        }
        try await useService(url)
        try await useSystems(url, FileManager.default.temporaryDirectory)
    }
}
