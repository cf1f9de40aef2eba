// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// Each of 256 bytes in names, values, methods, paths and hosts; no bad byte reaches a transport.
@Suite struct WireBytesTests {
    /// A string with the byte in the middle; bytes beyond ASCII are read as Latin-1.
    private static func string(_ byte: UInt8) -> String {
        "a" + String(UnicodeScalar(byte)) + "b"
    }

    private static let token = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    /// Performs a request and returns its fault or what reached the transport.
    private static func perform(
        userAgent: String? = nil, _ change: (inout DataLoaderRequest) -> Void
    ) -> Result<TransportRequest, RequestFault> {
        let bed = TestBed(otherwise: .respond(status: 200)) { $0.userAgent = userAgent }
        bed.loader.perform(.make("/", change))
        bed.settle()
        #expect(bed.delegate.events.count == 1)
        if let request = bed.transport.attempts.first?.request { return .success(request) }
        guard case .invalidRequest(let fault)? = bed.error?.kind else {
            Issue.record("\(String(describing: bed.error))")
            return .failure(.scheme)
        }
        return .failure(fault)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `header names and methods must be tokens, and values have no control bytes`(
        byte: UInt8
    ) {
        let text = Self.string(byte)
        let isToken = Self.token.contains(byte)
        switch Self.perform({ $0.headers.add("v", for: text) }) {
        case .success(let request):
            #expect(isToken)
            #expect(request.headers.contains(text))
        case .failure(let fault):
            #expect(!isToken)
            #expect(fault == .headerName(text))
        }
        switch Self.perform({ $0.method = HTTPMethod(rawValue: text) }) {
        case .success(let request):
            #expect(isToken)
            #expect(request.method.rawValue == text)
        case .failure(let fault):
            #expect(!isToken)
            #expect(fault == .method)
        }
        let isValue = byte == 9 || (byte >= 32 && byte != 127 && !(128..<160).contains(byte))
        switch Self.perform({ $0.headers["X-Field"] = text }) {
        case .success(let request):
            #expect(byte >= 128 || isValue)
            #expect(request.headers["X-Field"] == text)
        case .failure(let fault):
            #expect(!isValue)
            #expect(fault == .headerValue(name: "X-Field"))
        }
        switch Self.perform(userAgent: text, { _ in }) {
        case .success: #expect(byte >= 128 || isValue)
        case .failure(let fault): #expect(fault == .headerValue(name: "User-Agent"))
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `only visible ASCII reaches the wire as path, query and host`(byte: UInt8) {
        let text = Self.string(byte)
        for url in [
            "http://origin.test/\(text)?x", "http://origin.test/?\(text)", "http://\(text)/",
        ] {
            guard let url = URL(string: url) else { continue }
            guard case .success(let request) = Self.perform({ $0.url = url }) else { continue }
            let sent = request.url.absoluteString
            #expect(sent.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect(request.url.fragment == nil)
            #expect(throws: Never.self) { try RequestTarget(text: sent) }
        }
        // As a server could send it, without a URL type in between.
        let isVisible = byte > 0x20 && byte < 0x7F
        for place in ["http://h/\(text)", "http://h/?\(text)"] {
            let isRead = (try? RequestTarget(text: place)) != nil
            #expect(isRead == isVisible || byte == UInt8(ascii: "#"))
        }
        if let target = try? RequestTarget(text: "http://\(text)/") {
            #expect(target.origin.host.utf8.allSatisfy { $0.isTokenCharacter })
        }
    }

    @Test func `an empty header name, an empty method and CONNECT are refused`() {
        #expect(Self.fault { $0.headers.add("v", for: "") } == .headerName(""))
        #expect(Self.fault { $0.method = HTTPMethod(rawValue: "") } == .method)
        #expect(Self.fault { $0.method = HTTPMethod(rawValue: "CONNECT") } == .method)
    }

    @Test(arguments: [
        "Host", "content-length", "Transfer-Encoding", "CONNECTION", "Keep-Alive",
        "Proxy-Connection", "TE", "Trailer", "Upgrade", "Expect",
    ])
    func `header fields that belong to the transport are refused`(name: String) {
        #expect(Self.fault { $0.headers[name] = "x" } == .reservedHeader(name))
    }

    @Test func `a body is refused where the method has none`() {
        for method in [HTTPMethod.head, .trace] {
            let fault = Self.fault { request in
                request.method = method
                request.body = .data(Data())
            }
            #expect(fault == .body)
        }
    }

    @Test func `the service's user agent is added to requests without one`() async {
        let bed = TestBed { $0.userAgent = "daemon/1" }
        bed.loader.perform(.make())
        bed.loader.perform(.make { $0.headers["user-agent"] = "mine" })
        let attempts = await bed.transport.attempts(2)
        #expect(
            attempts.map { $0.request.headers.values(for: "User-Agent") } == [
                ["daemon/1"], ["mine"],
            ])
    }

    private static func fault(_ change: (inout DataLoaderRequest) -> Void) -> RequestFault? {
        if case .failure(let fault) = perform(change) { return fault }
        return nil
    }
}
