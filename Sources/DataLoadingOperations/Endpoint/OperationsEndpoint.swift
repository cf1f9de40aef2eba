// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport

/// Where a daemon answers its operators over HTTP: on this machine only, and nothing that it answers
/// changes anything.
///
/// ```swift
/// settings.endpoint = .unixSocket("/run/feeds/operations.sock")
/// ```
/// | path | what |
/// | --- | --- |
/// | `/metrics` | ``Operations/exposition(accepting:)`` |
/// | `/healthz` | 200 while the process works, else 503 with what does not answer |
/// | `/readyz` | 200 while new loads may start, else 503 with the reasons |
/// | `/snapshot` | what the service does, in JSON; with the token |
/// | `/`, `/events` | the dashboard and its events, which need the token |
///
/// The path of a request decides, not its query. To look from elsewhere, forward the port or the
/// socket: `ssh -L 9464:/run/feeds/operations.sock host`.
public struct OperationsEndpoint: Sendable, OpaquelyMirrored {
    enum Place: Hashable, Sendable, OpaquelyMirrored {
        case unixSocket(String, mode: UInt32)
        case loopback(port: UInt16, token: String)

        /// Where it listens, for an operator.
        var text: String {
            switch self {
            case .unixSocket(let path, _): path.shown(maxBytes: 160)
            case .loopback(let port, _): "127.0.0.1:\(port)"
            }
        }
    }

    let place: Place
    /// Whether `/` and `/events` are served; default false.
    public var servesDashboard = false
    /// Whether `/metrics` needs the token too.
    ///
    /// Default false. It has no effect on a Unix-domain socket.
    /// Prometheus has `authorization: credentials_file` for it.
    public var protectsMetrics = false
    /// Further values of `Host` that are answered, such as "feeds.internal:9464"; default none.
    ///
    /// Without them a page that a browser has from elsewhere could read what is meant for this
    /// machine, by a name that leads here (DNS rebinding).
    public var allowedHosts: Set<String> = []

    private init(_ place: Place) {
        self.place = place
    }

    /// Answers on a Unix-domain socket: who may open it needs no token.
    ///
    /// - Parameters:
    ///   - path: The absolute path, 107 bytes at most; a socket that an earlier process left there
    ///     is replaced.
    ///   - mode: Who may open it; default `0o600`: the user of the process.
    /// - Returns: An endpoint without a dashboard.
    public static func unixSocket(_ path: String, mode: UInt32 = 0o600) -> Self {
        Self(.unixSocket(path, mode: mode))
    }

    /// Answers on 127.0.0.1, which every user of the machine may connect to.
    ///
    /// - Parameters:
    ///   - port: The port; default 9464, that of OpenTelemetry's exporters. 0 takes a free one.
    ///   - token: What `Authorization: Bearer` must carry: 22 to 256 letters, digits or "-._~+/=",
    ///     as from ``makeToken()``.
    /// - Returns: An endpoint without a dashboard.
    public static func loopback(port: UInt16 = 9464, token: String) -> Self {
        Self(.loopback(port: port, token: token))
    }

    /// Makes a random token of 128 bits.
    ///
    /// - Returns: 32 hexadecimal digits.
    public static func makeToken() -> String {
        RandomSource.system.withGenerator { generator in
            let halves: [UInt64] = [generator.next(), generator.next()]
            return halves.map(\.hexText).joined()
        }
    }

    /// What is wrong with it; nil for nothing.
    var fault: String? {
        guard case .loopback(_, let token) = place else { return nil }
        guard (22...256).contains(token.utf8.count) else {
            return "its token must have 22 to 256 characters"
        }
        // RFC 6750 section 2.1.
        let others = Set("-._~+/=".utf8)
        let isBearer = token.hasOnlyBytes { byte in
            others.contains(byte) || byte.isDigit || (0x61...0x7A).contains(byte.asciiLowercased)
        }
        return isBearer ? nil : "its token has a character that no Authorization field may have"
    }
}
