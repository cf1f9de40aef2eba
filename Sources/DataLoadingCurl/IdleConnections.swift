// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The limits of kept connections, in number and time.
struct IdleConnections: Sendable {
    private(set) var limit: Int
    /// Whether the limit that was set cannot be kept.
    let isMalformed: Bool
    let lifetime: Duration
    /// The maximum age at which a connection takes another attempt, so that changes of names
    /// and certificates take effect.
    let maximumAge: Duration
    /// How long a server that has chosen HTTP/1.1 is not offered HTTP/2 again.
    ///
    /// Each offer that the server declines costs a connection that is not reused. With ten
    /// minutes that is one in a hundred or fewer on a busy route, and servers change less
    /// often.
    let protocolMemory: Duration
    /// Whether OpenSSL is asked what a server has chosen; otherwise the head of a response
    /// shows it.
    let readsALPN: Bool
    /// The number of attempts over HTTP/1.1 that run on a multi handle before another one is made.
    let handleCapacity: Int
    /// How long a first connection to a server delays the attempts that could join it.
    ///
    /// Most handshakes end within this time, and a connect limit of a few seconds has room for
    /// several.
    let leaderTime: Duration

    init(
        limit: Int = 64, lifetime: Duration = .seconds(60),
        maximumAge: Duration = .seconds(300), protocolMemory: Duration = .seconds(600),
        readsALPN: Bool = true, leaderTime: Duration = .milliseconds(500),
        handleCapacity: Int = 64
    ) {
        isMalformed = !(1...1_000_000).contains(limit)
        self.limit = isMalformed ? 1 : limit
        self.lifetime = lifetime
        self.maximumAge = maximumAge
        self.protocolMemory = protocolMemory
        self.readsALPN = readsALPN
        self.leaderTime = leaderTime
        self.handleCapacity = handleCapacity
    }

    /// Returns the limits of each of several loops, which together keep the limit or a few more.
    func share(of loops: Int) -> IdleConnections {
        var share = self
        share.limit = (limit + loops - 1) / loops
        return share
    }
}
