// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// Where the body of an intercepted load goes.
@Suite struct InterceptorSinkTests {
    private static let body = Data("body".utf8)

    @Test func `a load inside writes the file of the request, and the load has it`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("feed")
        let bed = TestBed(
            otherwise: .respond(status: 200, body: Self.body), interceptors: [PassOn()])
        bed.loader.perform(.make { $0.responseSink = .file(file) })
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(response.body == nil)
        #expect(response.bodyFile == file)
        #expect(try Data(contentsOf: file) == Self.body)
        #expect(bed.transport.attempts[0].request.streamsResponse)
        #expect(directory.names == ["feed"])
        bed.expectNothingLeft()
    }

    @Test func `an interceptor's own body is written to the file of the request`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("feed")
        let bed = TestBed(interceptors: [
            Intercept { request, _ in
                request.url.path == "/none"
                    ? .made(for: request, status: 404, body: Self.body)
                    : .made(for: request, body: Self.body)
            }
        ])
        let response = try await bed.loader.response(for: .make { $0.responseSink = .file(file) })
        #expect(response.error == nil)
        #expect(response.body == nil)
        #expect(response.bodyFile == file)
        #expect(try Data(contentsOf: file) == Self.body)
        let other = directory.url("none")
        let none = try await bed.loader.response(
            for: .make("/none") { $0.responseSink = .file(other) })
        #expect(none.error == .status(.notFound))
        #expect(none.body == Self.body)
        #expect(none.bodyFile == nil)
        #expect(directory.names == ["feed"])
        bed.expectNothingLeft()
    }

    @Test func `an interceptor's own body may fail its sink`() async throws {
        let directory = TemporaryDirectory()
        let bed = TestBed(
            interceptors: [Intercept { request, _ in .made(for: request, body: Self.body) }])
        bed.loader.perform(
            .make { $0.responseSink = .file(directory.url("a"), limit: 3) })
        #expect(await bed.outcome()?.response?.error == .bodyTooLarge(limit: 3))
        bed.loader.perform(
            .make { $0.responseSink = .file(directory.url("missing/a")) })
        let error = await bed.delegate.outcomes(2)[1].response?.error
        #expect(error?.name == "response_sink")
        #expect(directory.names.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `an interceptor cannot send the body elsewhere`() async throws {
        let directory = TemporaryDirectory()
        let file = directory.url("other")
        let bed = TestBed(
            otherwise: .respond(status: 200, body: Self.body),
            interceptors: [
                Intercept { request, next in
                    var other = request
                    other.responseSink = .file(file)
                    return try await next(other)
                }
            ])
        let response = try await bed.loader.response(for: .make())
        #expect(response.body == Self.body)
        #expect(response.bodyFile == nil)
        #expect(directory.names.isEmpty)
    }

    @Test func `a closure gets the body of one load inside only`() async throws {
        let heard = EventRecorder<Data>()
        let errors = EventRecorder<any Error>()
        let bed = TestBed(
            [.respond(status: 503), .respond(status: 200, body: Self.body)],
            otherwise: .respond(status: 200, body: Self.body),
            interceptors: [
                Intercept { request, next in
                    _ = try await next(request)
                    let second = try await next(request)
                    do { _ = try await next(request) } catch { errors.record(error) }
                    return second
                }
            ])
        bed.loader.perform(.make { $0.responseSink = .closure { heard.record($0) } })
        let response = try #require(await bed.outcome()?.response)
        #expect(response.error == nil)
        #expect(heard.elements == [Self.body])
        #expect((errors.elements.first as? DataLoaderError)?.name == "response_sink")
        #expect(bed.transport.attempts.count == 2)
        bed.expectNothingLeft()
    }

    @Test func `a body after one that a closure has got is an error`() async throws {
        let heard = EventRecorder<Data>()
        let bed = TestBed(
            otherwise: .respond(status: 200, body: Self.body),
            interceptors: [
                Intercept { request, next in
                    _ = try await next(request)
                    return .made(for: request, body: Data("other".utf8))
                }
            ])
        bed.loader.perform(.make { $0.responseSink = .closure { heard.record($0) } })
        #expect(await bed.outcome()?.response?.error?.name == "response_sink")
        #expect(heard.elements == [Self.body])
        bed.expectNothingLeft()
    }

    @Test func `an own body while a load inside may write to a closure is an error`() async throws {
        let heard = EventRecorder<Data>()
        let begun = EventRecorder<Void>()
        let bed = TestBed(interceptors: [
            Intercept { request, next in
                Task { try await next(request) }
                _ = await begun.first(1)
                return .made(for: request, body: Data("own".utf8))
            }
        ])
        bed.loader.perform(
            .make {
                $0.responseSink = .closure { bytes in
                    heard.record(bytes)
                    if bytes == Self.body { begun.record(()) }
                }
            })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Self.body)
        #expect(await bed.outcome()?.response?.error?.name == "response_sink")
        await attempt.waitUntilCancelled()
        #expect(heard.elements == [Self.body])
        bed.expectNothingLeft()
    }

    @Test func `no load inside begins while an own body is written to a closure`() async throws {
        let blocker = Blocker()
        let errors = EventRecorder<String?>()
        let bed = TestBed(
            otherwise: .respond(status: 200),
            interceptors: [
                Intercept { request, next in
                    Task {
                        await blocker.blocks()
                        do {
                            _ = try await next(request)
                            errors.record(nil)
                        } catch {
                            errors.record((error as? DataLoaderError)?.name)
                        }
                    }
                    return .made(for: request, body: Self.body)
                }
            ])
        bed.loader.perform(.make { $0.responseSink = .closure { _ in blocker.block() } })
        await eventually { !errors.elements.isEmpty || !bed.transport.attempts.isEmpty }
        blocker.release()
        #expect(await errors.first(1) == ["response_sink"])
        #expect(await bed.outcome()?.response?.error == nil)
        #expect(bed.transport.attempts.isEmpty)
        bed.expectNothingLeft()
    }

    @Test func `a load to a sink has no time limit by default, intercepted or not`() async throws {
        let heard = EventRecorder<Data>()
        let bed = TestBed(interceptors: [PassOn()])
        bed.loader.perform(.make { $0.responseSink = .closure { heard.record($0) } })
        let attempt = await bed.attempt(0)
        bed.advance(.seconds(600))
        #expect(bed.delegate.events.isEmpty)
        attempt.respond(status: 200, body: Self.body)
        #expect(await bed.outcome()?.response?.error == nil)
        bed.expectNothingLeft()
    }

    @Test func `a cancelled load leaves the file as it was`() async throws {
        let directory = TemporaryDirectory()
        let bed = TestBed(interceptors: [PassOn()])
        let token = bed.loader.perform(.make { $0.responseSink = .file(directory.url("feed")) })
        let attempt = await bed.attempt(0)
        attempt.sendHead(status: 200)
        attempt.send(Self.body)
        token.cancel()
        await attempt.waitUntilCancelled()
        _ = await bed.outcome()
        bed.expectNothingLeft()
        #expect(directory.names.isEmpty)
    }
}
