// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Processor time for 1,000 small GETs over TLS, with HTTP/1.1 and with HTTP/2.
///
/// URLSession is left out: on Linux it trusts only the authorities of the system, and none can be
/// added for one session.
struct SecureGets: Measure {
    let options: Options

    static let number = 3
    private static let bodySize = 1_024
    private static let concurrency = 32
    private static let contestants: [Contestant] = [
        .dataLoading, .direct, .awaited, .executed, .libcurl, .asyncHTTPClient,
    ]

    func run() throws -> [Figure] {
        let server = try NginxServer(bodySize: Self.bodySize, isSecure: true)
        defer { server.stop() }
        guard let authorities = server.authorities else { throw Complaint("nginx has no TLS") }
        var samples = Samples()
        for secure in [HTTPVersion.http1, .http2] {
            var workload = Workload(url: server.url, concurrency: Self.concurrency)
            workload.security = Workload.Security(version: secure, authorities: authorities)
            let entries = options.contestants.filter(Self.contestants.contains).map { contestant in
                Turns.Entry(
                    contestant: contestant, scene: secure.rawValue, workload: workload,
                    requests: options.requests ?? contestant.requestsPerRound)
            }
            try Turns(options: options).run(entries, into: &samples)
        }
        return samples.figures(of: Self.number)
    }
}
