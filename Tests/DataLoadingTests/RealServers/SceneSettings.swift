// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// What the environment says of a scene, by variables that begin with `DATALOADING_SERVERS_`.
    enum SceneSettings {
        /// How long each server's scene runs.
        static let duration = Duration.seconds(number("SECONDS") ?? 60)
        /// How long a user waits after each load: for runs of hours that leave room for others.
        static let pause = Duration.milliseconds(number("PAUSE") ?? 0)
        /// The file that gets figures each minute, for somebody to look at meanwhile.
        static let figures = text("FIGURES")
        /// Whether TLS is left out, and HTTP/2 with it, to find out where a fault comes from.
        static let isPlain = text("PLAIN") == "1"

        static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }

        private static func text(_ name: String) -> String? {
            ProcessInfo.processInfo.environment["DATALOADING_SERVERS_\(name)"]
        }
    }
#endif
