// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation
    import Testing

    extension SocketTests {
        /// Responses of a peer of HTTP/2 that come before its request is complete.
        @Suite struct HTTP2EarlyAnswerTests {
            private let scene: TrustScene
            private let identity: TestIdentity

            init() throws {
                scene = try TrustScene()
                identity = try scene.identity(isHTTP2: true)
            }

            // nginx responds so with `return`, and takes nothing more of the body.
            @Test(arguments: [204, 0, 5, 40_000])
            func `a complete response ends an upload whose window stays closed`(
                length: Int
            ) async throws {
                let peer = BodyPeer(early: { stream in
                    // ":status: 204" by its index
                    let empty = HTTP2Frame(
                        kind: .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream,
                        stream: stream, payload: [0x89])
                    guard length != 204 else { return [empty] }
                    guard length != 0 else {
                        var head = HTTP2Frame.head(stream, length: 0)
                        head.flags |= HTTP2Frame.endStream
                        return [head]
                    }
                    var rest = String(repeating: "x", count: length)[...]
                    var frames = [HTTP2Frame.head(stream, length: length)]
                    repeat {
                        let part = rest.prefix(16_000)
                        rest = rest.dropFirst(16_000)
                        frames.append(.data(stream, String(part), isLast: rest.isEmpty))
                    } while !rest.isEmpty
                    return frames
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = scene.request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                let began = ContinuousClock.now
                let response = try await loader.response(for: post)
                #expect(response.body?.count == (length == 204 ? 0 : length))
                #expect(response.metrics.attempts == 1)
                #expect(ContinuousClock.now - began < .seconds(10) * patience)
                await service.shutDown(gracePeriod: .zero)
            }

            // Apache, nginx, Caddy and lighttpd respond so; `CurlErrors.lostResponse` is the error.
            @Test func `a response with the end of its stream is delivered or reported as lost`()
                async throws
            {
                let heads = EventRecorder<UInt32>()
                let peer = BodyPeer(early: { stream in
                    heads.record(stream)
                    return BodyPeer.answer(stream) + [.reset(stream, 0)]
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = scene.request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                post.retryPolicy = .immediately(maximumRetries: 3)
                let error = await loader.failure(of: post)
                if let error {
                    #expect((CurlLibrary.shared?.version ?? 0) < 0x08_0E_01)
                    #expect(error == .http2(reason: CurlErrors.lostResponse))
                    #expect(error.mayHaveBeenProcessed)
                }
                #expect(heads.elements.count == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            // RFC 9113 section 8.1: the server wants no more of the request.
            @Test func `a response that was read counts although its stream is then reset`()
                async throws
            {
                let heads = EventRecorder<UInt32>()
                let script = LoopbackScript.converse { stream in
                    try HTTP2Peer.converse(on: stream) { frame in
                        switch frame.kind {
                        case .headers:
                            heads.record(frame.stream)
                            let answer = [
                                HTTP2Frame.head(frame.stream, length: 4),
                                .data(frame.stream, "fine", isLast: false), .ping,
                            ]
                            try HTTP2Peer.send(answer, to: stream)
                        // The client has read the response.
                        case .ping: try HTTP2Peer.send([.reset(1, 0)], to: stream)
                        default: break
                        }
                        return true
                    }
                }
                let server = try scene.peer(identity, .init(), script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                var post = scene.request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                let response = try await service.makeFactory().makeDataLoader().response(for: post)
                #expect(response.body == Data("fine".utf8))
                #expect(heads.elements.count == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(arguments: [20, 20_000, 200_000])
            func `a complete response ends an upload whose window never opens`(size: Int)
                async throws
            {
                let peer = BodyPeer(window: 0, early: { BodyPeer.answer($0) })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                // The first may be sent before the client knows the window.
                for _ in 0..<3 {
                    var post = scene.request(.post, server)
                    post.body = .data(Data(count: size))
                    let response = try await loader.response(for: post)
                    #expect(response.body == Data("fine".utf8))
                    #expect(response.metrics.attempts == 1)
                }
                await service.shutDown(gracePeriod: .zero)
            }

            // haproxy, whose window closes some time after the response.
            @Test func `a complete response ends an upload that libcurl continues`()
                async throws
            {
                let window: UInt32 = 1 << 20
                let peer = BodyPeer(early: { stream in
                    [.window(0, window), .window(stream, window)] + BodyPeer.answer(stream)
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = scene.request(.post, server)
                post.body = .stream(length: 4 << 20) { InputStream(data: Data(count: 4 << 20)) }
                let response = try await loader.response(for: post)
                #expect(response.body == Data("fine".utf8))
                #expect(response.metrics.attempts == 1)
                await service.shutDown(gracePeriod: .zero)
            }

            @Test(arguments: [true, false])
            func `a response that is cut off during an upload is not a success`(hasLength: Bool)
                async throws
            {
                let peer = BodyPeer(early: { stream in
                    [
                        .head(stream, length: hasLength ? 10 : nil),
                        .data(stream, "12345", isLast: false), .reset(stream, 8),
                    ]
                })
                let server = try scene.peer(identity, .init(), peer.script)
                let service = scene.service(try scene.policy(), server, http2: .always)
                let loader = service.makeFactory().makeDataLoader()
                var post = scene.request(.post, server)
                post.body = .data(Data(count: 1 << 20))
                let error = await loader.failure(of: post)
                #expect(error?.name == "http2")
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
