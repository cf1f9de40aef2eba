// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    /// The processor time that the transports' threads have used.
    private var processorTimeOfLoops: Duration {
        let directory = "/proc/self/task"
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return tasks.reduce(.zero) { sum, task in
            let path = "\(directory)/\(task)/"
            guard (try? String(contentsOfFile: path + "comm", encoding: .utf8)) == "DataLoading\n",
                let text = try? String(contentsOfFile: path + "schedstat", encoding: .utf8),
                let time = text.split(separator: " ").first.flatMap({ Int64($0) })
            else { return sum }
            return sum + .nanoseconds(time)
        }
    }

    extension SocketTests {
        /// A private authority appended to a system's bundle: hundreds of certificates.
        @Suite(
            .enabled(
                if: TestIdentity.all != nil && CurlLibrary.shared?.version ?? 0 >= 0x07_57_00,
                "libcurl keeps authorities from 7.87 on"))
        struct AuthorityBundleTests {
            // libcurl parses a bundle of bytes anew for each connection, on the one thread of all
            // loads. It parses a file once a day (CURLOPT_CA_CACHE_TIMEOUT).
            //
            // The test runs in a process of its own, whose other threads of that name use no time.
            @Test func `a large CA bundle is parsed once, not for each connection`() async {
                await #expect(processExitsWith: .success) {
                    let scene = try TrustScene()
                    let closing = LoopbackHandler.always(
                        .status(200, headers: ["Connection": "close"]))
                    let peer = try scene.peer(try scene.identity(), .init(), .serve(closing))
                    let one = try scene.authority.pem
                    var many = Data()
                    for _ in 0..<2_000 { many += one }
                    let count = 12
                    var costs: [Duration] = []
                    for authorities in [one, many] {
                        let policy = ServerTrustPolicy(certificateAuthorities: authorities)
                        let service = scene.service(policy, peer)
                        // The first connection parses the bundle.
                        let first = try await scene.kind("a.origin.test", peer, service)
                        #expect(first == "success")
                        let begun = processorTimeOfLoops
                        for _ in 0..<count {
                            let kind = try await scene.kind("a.origin.test", peer, service)
                            #expect(kind == "success")
                        }
                        costs.append(processorTimeOfLoops - begun)
                        await service.shutDown(gracePeriod: .zero)
                    }
                    let cost = (costs[1] - costs[0]) / count
                    #expect(cost < .milliseconds(5), "for each connection")
                    #expect(peer.connectionCount == 2 * (count + 1))
                    peer.stop()
                }
            }
        }
    }
#endif
