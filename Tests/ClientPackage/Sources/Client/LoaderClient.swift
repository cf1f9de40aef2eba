// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// The owner level: requests, loaders, responses.
func useLoader(_ factory: DataLoaderFactory, _ url: URL) async throws {
    let listener = Listener()
    let loader = factory.makeDataLoader(delegate: listener, delegateQueue: .global())
    let quiet = factory.makeDataLoader()
    quiet.delegate = QuietListener()
    let token = loader.perform(makeRequest(url))
    token.cancel()
    print(token.isCancelled, loader.currentRequests.count)
    loader.cancelAllLoads()

    do {
        let response = try await loader.response(for: DataLoaderRequest(url: url))
        describe(response)
    } catch DataLoaderError.cancelled {
        return
    } catch let error as DataLoaderError where error.kind == .overloaded {
        print("later")
    } catch let error as DataLoaderError {
        describe(error)
    }
    for try await chunk in loader.chunks(for: DataLoaderRequest(url: url)) {
        print(chunk.count)
    }
    try await useCall(loader, url)
}

func makeRequest(_ url: URL) -> DataLoaderRequest {
    var request = DataLoaderRequest(url: url, sourceIdentifier: "client")
    request.method = .post
    request.method = HTTPMethod(rawValue: "PURGE")
    request.headers = ["Accept": "text/plain"]
    request.headers["Accept"] = "application/json"
    request.headers.add("a", for: "X-Value")
    print(request.headers.values(for: "x-value"))
    request.body = .data(Data("hello".utf8))
    request.body = .file(URL(fileURLWithPath: "/etc/hostname"))
    request.body = .stream(length: 5) { InputStream(data: Data("hello".utf8)) }
    request.body = .form(["name": "value"])
    request.body = try? .json(["name": "value"])
    var form = MultipartForm()
    form.add("value", for: "name")
    form.add(file: URL(fileURLWithPath: "/etc/hostname"), for: "file")
    request.body = .multipart(form)
    request.responseSink = .file(URL(fileURLWithPath: "/tmp/client"), limit: 1_000)
    request.responseSink = .outputStream { OutputStream(toMemory: ()) }
    request.responseSink = .closure { print($0.count) }
    request.uploadProgress = { print($0.completed) }
    request.downloadProgress = { print($0.total ?? 0) }
    request.expectsContinue = false
    request.resumesBrokenBodies = false
    request.fieldsKeptAcrossOrigins = ["X-Request-Id"]
    request.allowsRedirectsToHTTP = true
    request.allowsBodyAcrossOrigins = true
    request.skipsAuthorisation = true
    request.authenticationMethods = [AuthenticationMethod(rawValue: "partner")]
    request.timeout = .seconds(10)
    request.maximumRetryCount = 3
    request.retryPolicy = .immediately(maximumRetries: 1)
    request.retryPolicy = .constant(.seconds(1), maximumRetries: 1)
    request.retryPolicy = .exponential(maximumRetries: 1)
    request.retryPolicy = .rateLimitHeader(maximumRetries: 1)
    request.retryPolicy = Patience()
    request.chunks = true
    request.cachePolicy = .reload
    request.redirectPolicy = .ask { $0.count < 3 }
    request.priority = .high
    request.isIdempotent = true
    request.waitsForConnectivity = true
    request[option: Feature.self] = "search"
    print(request.uniqueIdentifier, request[option: Feature.self] ?? "-")
    return request
}

enum Feature: RequestOption {
    static let defaultValue: String? = nil
}

struct Patience: RetryPolicy {
    func delay(afterAttempt n: Int, outcome: AttemptOutcome) -> Duration? {
        n < 3 && outcome.isTransient ? .seconds(n) : nil
    }
}

func describe(_ response: DataLoaderResponse) {
    print(response.request, response.statusCode == 200, response.statusCode?.rawValue ?? 0)
    print(response.headers["Content-Type"] ?? "-", response.resolvedURL as Any)
    print(response.retryAfter as Any, response.body?.count ?? 0, response.requestTime)
    print(response.bodyFile?.path ?? "-")
    print(response.metrics.attempts, response.metrics.bytesDownloaded)
    if let error = response.error { describe(error) }
}

func describe(_ error: DataLoaderError) {
    switch error.kind {
    case .cancelled, .reset, .serviceInvalidated, .resetInProgress: print("ended from outside")
    case .timedOut(let limit, let mayHaveBeenProcessed): print(limit, mayHaveBeenProcessed)
    case .rateLimited(let wait): print(wait)
    case .status(let status): print(status.rawValue)
    default: print(error.name)
    }
    print(error, error.phase as Any, error.stopReason as Any, error.underlyingError as Any)
    print(error.kind == .dns, error == DataLoaderError(.pin), error.kind == .status(404))
    print(error.context?.load ?? 0, error.context?.url ?? "-", error.body?.count ?? 0)
}

final class Listener: DataLoaderChunkDelegate, DataLoaderBodyStreamDelegate,
    DataLoaderConnectivityDelegate
{
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {}
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {}
    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
    func dataLoaderShouldSupportChunks(_ dataLoader: DataLoader) -> Bool { true }
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveInitialResponse response: DataLoaderResponse
    ) {}
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveDataChunk data: Data,
        forResponse response: DataLoaderResponse
    ) {}
    func dataLoader(
        _ dataLoader: DataLoader, needsNewBodyStreamFor request: DataLoaderRequest
    ) -> InputStream? { nil }
    func dataLoader(
        _ dataLoader: DataLoader, requestIsWaitingForConnectivity request: DataLoaderRequest
    ) {}
}

/// A delegate of whole responses.
final class QuietListener: DataLoaderDelegate {
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveSuccessfulResponse response: DataLoaderResponse
    ) {}
    func dataLoader(
        _ dataLoader: DataLoader, didReceiveErrorResponse response: DataLoaderResponse
    ) {}
    func dataLoader(_ dataLoader: DataLoader, didCancelRequest request: DataLoaderRequest) {}
}
