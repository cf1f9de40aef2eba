// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// The settings of a scene from environment variables that begin with `DATALOADING_SERVERS_`.
    enum SceneSettings {
        /// How long each server's scene runs.
        static let duration = Duration.seconds(number("SECONDS") ?? 60)
        /// How long a user waits after each load, for long runs that leave the machine to others.
        static let pause = Duration.milliseconds(number("PAUSE") ?? 0)
        /// The file for the figures of each minute.
        static let figures = text("FIGURES")
        /// Whether TLS and HTTP/2 are left out, to find the cause of a fault.
        static let isPlain = text("PLAIN") == "1"

        static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

        private static func text(_ name: String) -> String? {
            ProcessInfo.processInfo.environment["DATALOADING_SERVERS_\(name)"]
        }
    }
#endif
