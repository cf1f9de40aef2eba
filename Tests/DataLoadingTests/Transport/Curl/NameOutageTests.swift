// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Dispatch
    import Foundation
    import Testing

    extension SocketTests {
        /// Loads while name servers are silent, slow or failing.
        @Suite struct NameOutageTests {
            // 24 names of different zones, and more names of one zone than there are threads.
            @Test(arguments: [(24, "test"), (80, "zone.test")])
            func `a name is looked up while the look-ups of many others block`(
                count: Int, domain: String
            ) async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let blocked = EventRecorder<String>()
                let release = DispatchSemaphore(value: 0)
                let transport = CurlTransport { name in
                    guard name.hasPrefix("silent") else { return .addresses(["127.0.0.1"]) }
                    blocked.record(name)
                    release.wait()
                    return .unknown
                }
                let sinks = (0..<count).map { number in
                    let sink = AttemptRecorder()
                    let url = testURL("http://silent\(number).\(domain)/")
                    _ = transport.start(TransportRequest(url: url), sink: sink)
                    return sink
                }
                // Half of the threads, and a quarter, are for names that may be slow.
                _ = await blocked.first(min(count, 48))
                let url = try #require(URL(string: "http://good.test:\(server.port)/"))
                #expect(await transport.get(url).text == "here")
                for _ in sinks { release.signal() }
                for sink in sinks { #expect(await sink.ended().error == .dns) }
            }

            enum Outage: CaseIterable, Sendable {
                case fails, isSilent
            }

            @Test(arguments: Outage.allCases)
            func `a kept connection is used while its name cannot be looked up`(
                outage: Outage
            ) async throws {
                let server = try LoopbackServer { _ in .ok("here") }
                let lookups = Locked(0)
                let release = DispatchSemaphore(value: 0)
                var lifetimes = NameLifetimes()
                lifetimes.fresh = 0
                lifetimes.recheck = 0
                let transport = CurlTransport(names: lifetimes) { _ in
                    let isFirst = lookups.withLock { lookups in
                        lookups += 1
                        return lookups == 1
                    }
                    if isFirst { return .addresses(["127.0.0.1"]) }
                    if outage == .isSilent { release.wait() }
                    return .unavailable
                }
                let url = try #require(URL(string: "http://named.test:\(server.port)/"))
                for _ in 0..<5 { #expect(await transport.get(url).text == "here") }
                #expect(server.connectionCount == 1)
                #expect(lookups.withLock { $0 } > 1)
                release.signal()
                await transport.shutDown()
            }

            @Test func `a look-up that failed temporarily is made again at once`()
                async throws
            {
                let server = try LoopbackServer { _ in .ok("here") }
                let lookups = Locked(0)
                let transport = CurlTransport { _ in
                    let isFirst = lookups.withLock { lookups in
                        lookups += 1
                        return lookups == 1
                    }
                    return isFirst ? .unavailable : .addresses(["127.0.0.1"])
                }
                let url = try #require(URL(string: "http://named.test:\(server.port)/"))
                #expect(await transport.get(url).error == .dns)
                #expect(await transport.get(url).text == "here")
            }

            @Test func `names that failed before leave threads for other names`() async throws {
                let asked = EventRecorder<String>()
                let release = DispatchSemaphore(value: 0)
                let isBlocking = Locked(false)
                let resolver = NameResolver { name in
                    guard name.hasPrefix("bad") else { return .addresses([name]) }
                    guard isBlocking.withLock({ $0 }) else { return .unavailable }
                    asked.record(name)
                    release.wait()
                    return .unavailable
                }
                let answers = EventRecorder<NameAnswer>()
                for number in 0..<100 { resolver.resolve("bad\(number)") { answers.record($0) } }
                _ = await answers.first(100)
                isBlocking.withLock { $0 = true }
                for number in 0..<100 { resolver.resolve("bad\(number)") { answers.record($0) } }
                _ = await asked.first(NameResolver.suspectLimit)
                for number in 0..<50 { resolver.resolve("good\(number)") { answers.record($0) } }
                _ = await answers.first(150)
                #expect(asked.elements.count == NameResolver.suspectLimit)
                for _ in 0..<100 { release.signal() }
                _ = await answers.first(250)
            }
        }
    }
#endif
