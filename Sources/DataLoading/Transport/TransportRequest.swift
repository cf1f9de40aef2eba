// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One attempt as a transport sees it: everything it needs, already checked byte by byte.
public struct TransportRequest: Sendable {
    /// The method, a token.
    public var method: HTTPMethod
    /// The URL; http or https, without user information and without fragment.
    public var url: URL {
        didSet { exactText = nil }
    }
    /// The URL to the byte, where a server named it in bytes that `url` had to escape.
    private var exactText: String?
    /// The header fields, those of authorisers included.
    public var headers: HTTPHeaders
    /// The body; nil for none.
    public var body: RequestBody?
    /// The peer to dial instead of the URL's host: "host", "host:port" or "[::1]:8443"; nil for DNS.
    ///
    /// Host field, server name indication and certificate check stay those of `url`.
    public var address: String?
    /// The limit for name resolution, connection and TLS handshake together.
    public var connectTimeout: Duration
    /// The longest time without a byte either way once connected; not counted while paused.
    public var idleTimeout: Duration
    /// The most bytes of response head, 1xx heads and trailers included.
    public var headLimit: Int
    /// The most decoded body bytes, nil for no limit.
    public var bodyLimit: Int64?
    /// Pins and private certificate authorities; nil for the system's trust.
    public var serverTrustPolicy: ServerTrustPolicy?
    /// Whether a peer is refused, with `.privateAddress`, whose address is no public one.
    public var refusesPrivateAddresses: Bool
    /// Whether a peer is refused that is not this machine's loopback interface, with
    /// `.cannotAuthenticate`: the request has a credential and goes in the clear.
    public var needsLoopbackPeer: Bool
    /// Whether a connection that was used before must not be.
    public var needsFreshConnection: Bool
    /// Whether the body is handed on while it arrives, which `pause` then holds back.
    public var streamsResponse: Bool
    /// Whether HTTP/2 is offered; `URLSessionTransport` leaves that to the system.
    public var http2: HTTP2Use
    /// Whether the server is asked before a large body is sent; see `ExpectContinue`.
    public var expectsContinue: Bool
    /// What a caching transport may do.
    public var cachePolicy: CachePolicy

    /// Makes an attempt with the defaults of `DataLoaderService.Configuration`.
    public init(method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = HTTPHeaders()) {
        self.method = method
        self.url = url
        self.headers = headers
        connectTimeout = .seconds(10)
        idleTimeout = .seconds(30)
        headLimit = 262_144
        bodyLimit = 33_554_432
        refusesPrivateAddresses = false
        needsLoopbackPeer = false
        needsFreshConnection = false
        streamsResponse = false
        http2 = .automatic
        expectsContinue = ExpectContinue.defaultValue
        cachePolicy = .useProtocolPolicy
    }

    /// Whether it depends on the peer's address whether the request may be sent.
    var limitsPeers: Bool { refusesPrivateAddresses || needsLoopbackPeer }

    /// The URL as it goes on the wire.
    package var text: String { exactText ?? url.absoluteString }

    /// Says what goes on the wire for as long as `url` is not changed.
    package mutating func setText(_ text: String) {
        exactText = text == url.absoluteString ? nil : text
    }
}

extension TransportRequest: CustomStringConvertible {
    /// The method and the URL without its query; never a header value, the body or the address.
    public var description: String {
        "\(method.rawValue) \(url.redactedText)"
    }
}
