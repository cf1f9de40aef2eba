// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingSupport
public import Foundation

/// The request of one attempt, with its limits.
///
/// A load has checked its method, URL and fields. A program that makes or changes a request may set
/// other values, so a transport that sends requests must check them again.
public struct TransportRequest: Sendable, OpaquelyMirrored {
    /// The method, a token.
    public var method: HTTPMethod
    /// The URL; http or https, without user information and without fragment.
    public var url: URL {
        didSet { exactText = nil }
    }
    /// The URL's exact bytes, where a server named it in bytes that `url` had to escape.
    private var exactText: String?
    /// The header fields, those of authorisers included.
    public var headers: HTTPHeaders
    /// The body; nil for none.
    public var body: RequestBody?
    /// The peer to connect to instead of the URL's host: "host", "host:port", "[::1]:8443" or
    /// "unix:/run/server.sock"; nil for DNS.
    ///
    /// The Host field, server name indication and certificate check still use `url`.
    public var address: String?
    /// The proxy through which the request is sent, not together with an address; nil for none.
    public var proxy: Proxy?
    /// The value of `Proxy-Authorization`, for the proxy only; nil for none.
    public var proxyAuthorization: String?
    /// Whether a proxy outside this machine's loopback interface is refused, with
    /// `.cannotAuthenticate`: its credential is sent without TLS.
    package var proxyNeedsLoopbackPeer = false
    /// The limit for name resolution, connection and TLS handshake together.
    public var connectTimeout: Duration
    /// The maximum time without a byte in either direction once connected; not counted while
    /// paused.
    public var idleTimeout: Duration
    /// The maximum bytes of response heads, 1xx heads and trailers included.
    public var headLimit: Int
    /// The maximum decoded body bytes; nil for no limit.
    public var bodyLimit: Int64?
    /// Pins and private certificate authorities; nil for the system's trust.
    public var serverTrustPolicy: ServerTrustPolicy?
    /// The client certificate to show in place of the policy's; nil for the policy's.
    public var clientIdentity: ClientIdentity?
    /// Whether a peer whose address is not public is refused, with `.privateAddress`.
    public var refusesPrivateAddresses: Bool
    /// Whether a peer outside this machine's loopback interface is refused, with
    /// `.cannotAuthenticate`: the request carries a credential without TLS.
    public var needsLoopbackPeer: Bool
    /// Whether the attempt must open a new connection.
    public var needsFreshConnection: Bool
    /// Whether the body is delivered while it arrives, so that `pause` applies back-pressure.
    public var streamsResponse: Bool
    /// Whether HTTP/2 is offered; `URLSessionTransport` leaves that to the system.
    public var http2: HTTP2Use
    /// The size from which a body is large, in bytes: 1 MiB.
    package static let largeBody: Int64 = 1_048_576
    /// Whether the server is asked before a large body is sent, as `DataLoaderRequest` describes.
    public var expectsContinue: Bool
    /// The way in which a caching transport may use its cache.
    public var cachePolicy: CachePolicy
    /// What the load tells of the attempt; nil for a request that no load makes.
    package var details: (any AttemptDetails)?

    /// Makes a request with the defaults of `DataLoaderService.Configuration`.
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
        expectsContinue = true
        cachePolicy = .useProtocolPolicy
    }

    /// The value of a typed option of the load's request.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get { options[option] }
        set {
            var options = options
            options[option] = newValue
            details = OwnDetails(context, options)
        }
    }

    /// The load that makes the attempt, and the attempt's place in it.
    public var context: AttemptContext {
        get { details?.context ?? AttemptContext() }
        set { details = OwnDetails(newValue, options) }
    }

    /// The options of the load's request, those that authorisers set included.
    private var options: RequestOptions { details?.options ?? RequestOptions() }

    /// Whether the load's request has an option; other modules of the package ask first, because to
    /// read one costs much more.
    package var hasOptions: Bool { !(details?.options.isEmpty ?? true) }

    /// Whether a redirect has led the load to another origin than that of its request.
    package var hasLeftOrigin: Bool { options.haveLeftOrigin }

    /// Whether the peer's address decides whether the request may be sent.
    package var limitsPeers: Bool {
        refusesPrivateAddresses || needsLoopbackPeer || proxyNeedsLoopbackPeer
    }

    /// The URL as it is sent.
    package var text: String { exactText ?? url.absoluteString }

    /// Sets the exact URL to send, until `url` is changed.
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
