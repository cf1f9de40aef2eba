// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Throughput, processor time and memory of a body of 1 GiB in chunks, and of a file that is sent.
struct LargeBodies: Measure {
    let options: Options

    static let number = 11
    private static let downloadSize = 1_024
    private static let uploadSize = 256
    private static let downloaders: [Contestant] = [
        .dataLoading, .direct, .awaited, .libcurl, .asyncHTTPClient,
    ]
    private static let uploaders: [Contestant] = [.dataLoading, .direct, .awaited, .libcurl]

    func run() throws -> [Figure] {
        var samples = Samples()
        try take("download", Self.downloadSize, Self.downloaders, &samples)
        try take("upload", Self.uploadSize, Self.uploaders, &samples)
        return samples.figures(of: Self.number)
    }

    private func take(
        _ scene: String, _ size: Int, _ contestants: [Contestant], _ samples: inout Samples
    ) throws {
        let size = (options.requests ?? size) * 1_048_576
        let server = try NginxServer(bodySize: size)
        defer { server.stop() }
        let isUpload = scene == "upload"
        for _ in 0..<options.rounds {
            for contestant in options.contestants where contestants.contains(contestant) {
                let outcome = try TransferRun(
                    contestant: contestant, url: isUpload ? server.uploadURL : server.url,
                    smallURL: server.postURL, bodySize: size,
                    file: isUpload ? server.bodyFile : nil
                ).start()
                outcome.add(to: &samples, contestant, scene, c: 1)
            }
        }
    }
}
