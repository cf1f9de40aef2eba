// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What to load: a value that can be performed any number of times, each time as a load of its own.
public struct DataLoaderRequest: Sendable {
    /// The absolute http or https URL; a fragment is not sent, user information is refused.
    public var url: URL {
        get { box.fields.url }
        set { own().fields.url = newValue }
    }
    /// A name for the feature that asks, for consumption observers; default nil.
    public var sourceIdentifier: String? {
        get { box.fields.sourceIdentifier }
        set { own().fields.sourceIdentifier = newValue }
    }
    /// The method; default GET.
    public var method: HTTPMethod {
        get { box.fields.method }
        set { own().fields.method = newValue }
    }
    /// The header fields; default none.
    ///
    /// The transport adds Host, length and coding itself.
    public var headers: HTTPHeaders {
        get { box.fields.headers }
        set { own().fields.headers = newValue }
    }
    /// What is sent after the head; default nothing.
    public var body: RequestBody? {
        get { box.fields.body }
        set { own().fields.body = newValue }
    }
    /// The limit for the whole load, waits and retries included; default nil.
    ///
    /// nil means `Timeouts.total`, or no limit when `chunks` is set.
    public var timeout: Duration? {
        get { box.fields.timeout }
        set { own().fields.timeout = newValue }
    }
    /// How many attempts may follow the first; default nil.
    ///
    /// nil leaves it to the `retryPolicy` when there is one, else to the service, which has 0. It
    /// binds a policy too.
    public var maximumRetryCount: Int? {
        get { box.fields.maximumRetryCount }
        set { own().fields.maximumRetryCount = newValue }
    }
    /// When to try again; default nil: after jittered exponential pauses.
    public var retryPolicy: (any RetryPolicy)? {
        get { box.fields.retryPolicy }
        set { own().fields.retryPolicy = newValue }
    }
    /// Whether the body is delivered in chunks as it arrives; default false.
    public var chunks: Bool {
        get { box.fields.chunks }
        set { own().fields.chunks = newValue }
    }
    /// What a caching transport may do; default `.useProtocolPolicy`.
    public var cachePolicy: CachePolicy {
        get { box.fields.cachePolicy }
        set { own().fields.cachePolicy = newValue }
    }
    /// What becomes of redirects; default `.follow`.
    public var redirectPolicy: RedirectPolicy {
        get { box.fields.redirectPolicy }
        set { own().fields.redirectPolicy = newValue }
    }
    /// Which loads of the same origin go first; default `.normal`.
    public var priority: Priority {
        get { box.fields.priority }
        set { own().fields.priority = newValue }
    }
    /// Whether sending it twice has the effect of sending it once; default nil.
    ///
    /// nil means by the method, or true when there is an `Idempotency-Key` field.
    public var isIdempotent: Bool? {
        get { box.fields.isIdempotent }
        set { own().fields.isIdempotent = newValue }
    }
    /// Whether a load without a connection waits for one until its deadline; default false.
    ///
    /// While it waits, addresses are tried again with growing pauses, and the delegate is told once.
    public var waitsForConnectivity: Bool {
        get { box.fields.waitsForConnectivity }
        set { own().fields.waitsForConnectivity = newValue }
    }
    /// A number that no other `init` in this process gave; copies share it.
    public var uniqueIdentifier: Int64 { box.fields.uniqueIdentifier }

    /// Shared by copies until one of them changes: a load keeps several, few of which differ.
    private var box: Box

    // Written only by its one owner, which `own` proves.
    private final class Box: @unchecked Sendable {
        var fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }

    private struct Fields: Sendable {
        var url: URL
        var sourceIdentifier: String?
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = HTTPHeaders()
        var body: RequestBody?
        var timeout: Duration?
        var maximumRetryCount: Int?
        var retryPolicy: (any RetryPolicy)?
        var chunks: Bool = false
        var cachePolicy: CachePolicy = .useProtocolPolicy
        var redirectPolicy: RedirectPolicy = .follow
        var priority: Priority = .normal
        var isIdempotent: Bool?
        var waitsForConnectivity: Bool = false
        let uniqueIdentifier: Int64
        var options: [ObjectIdentifier: any Sendable] = [:]
    }

    /// Makes a GET request with the defaults above.
    public init(url: URL, sourceIdentifier: String? = nil) {
        let identifier = Self.identifiers.withLock { last in
            last &+= 1
            return last
        }
        box = Box(
            Fields(url: url, sourceIdentifier: sourceIdentifier, uniqueIdentifier: identifier))
    }

    private mutating func own() -> Box {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
        return box
    }

    /// A typed fact attached to the request.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get {
            box.fields.options[ObjectIdentifier(option)] as? Option.Value ?? Option.defaultValue
        }
        set { own().fields.options[ObjectIdentifier(option)] = newValue }
    }

    /// Whether it may reach the server twice, by the caller's word, the method or its key.
    package var mayBeSentTwice: Bool {
        isIdempotent ?? (method.isIdempotent || headers.contains("Idempotency-Key"))
    }

    private static let identifiers = Locked<Int64>(0)
}

extension DataLoaderRequest: CustomStringConvertible {
    /// The method and the URL without its query, which may hold secrets.
    public var description: String {
        "\(method.rawValue) \(url.redactedText)"
    }
}
