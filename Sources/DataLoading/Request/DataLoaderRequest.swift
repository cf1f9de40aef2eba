// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What to load: a value that can be performed any number of times, each time as a load of its own.
public struct DataLoaderRequest: Sendable {
    /// The absolute http or https URL; a fragment is not sent, user information is refused.
    public var url: URL {
        get { fields.value.url }
        set { fields.change { $0.url = newValue } }
    }
    /// A name for the feature that asks, for consumption observers; default nil.
    public var sourceIdentifier: String? {
        get { fields.value.sourceIdentifier }
        set { fields.change { $0.sourceIdentifier = newValue } }
    }
    /// The method; default GET.
    public var method: HTTPMethod {
        get { fields.value.method }
        set { fields.change { $0.method = newValue } }
    }
    /// The header fields; default none.
    ///
    /// The transport adds Host, length and coding itself.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.change { $0.headers = newValue } }
    }
    /// What is sent after the head; default nothing.
    public var body: RequestBody? {
        get { fields.value.body }
        set { fields.change { $0.body = newValue } }
    }
    /// The limit for the whole load, waits and retries included; default nil.
    ///
    /// nil means `Timeouts.total`, or no limit when `chunks` or a `responseSink` is set.
    public var timeout: Duration? {
        get { fields.value.timeout }
        set { fields.change { $0.timeout = newValue } }
    }
    /// How many attempts may follow the first; default nil.
    ///
    /// nil leaves it to the `retryPolicy` when there is one, else to the service, which has 0. It
    /// binds a policy too.
    public var maximumRetryCount: Int? {
        get { fields.value.maximumRetryCount }
        set { fields.change { $0.maximumRetryCount = newValue } }
    }
    /// When to try again; default nil: after jittered exponential pauses.
    public var retryPolicy: (any RetryPolicy)? {
        get { fields.value.retryPolicy }
        set { fields.change { $0.retryPolicy = newValue } }
    }
    /// Whether the body is delivered in chunks as it arrives; default false.
    public var chunks: Bool {
        get { fields.value.chunks }
        set { fields.change { $0.chunks = newValue } }
    }
    /// What a caching transport may do; default `.useProtocolPolicy`.
    public var cachePolicy: CachePolicy {
        get { fields.value.cachePolicy }
        set { fields.change { $0.cachePolicy = newValue } }
    }
    /// What becomes of redirects; default `.follow`.
    public var redirectPolicy: RedirectPolicy {
        get { fields.value.redirectPolicy }
        set { fields.change { $0.redirectPolicy = newValue } }
    }
    /// Which loads of the same origin go first; default `.normal`.
    public var priority: Priority {
        get { fields.value.priority }
        set { fields.change { $0.priority = newValue } }
    }
    /// Whether sending it twice has the effect of sending it once; default nil.
    ///
    /// nil means by the method, or true when there is an `Idempotency-Key` field.
    public var isIdempotent: Bool? {
        get { fields.value.isIdempotent }
        set { fields.change { $0.isIdempotent = newValue } }
    }
    /// Whether a load without a connection waits for one until its deadline; default false.
    ///
    /// While it waits, addresses are tried again with growing pauses, and the delegate is told once.
    public var waitsForConnectivity: Bool {
        get { fields.value.waitsForConnectivity }
        set { fields.change { $0.waitsForConnectivity = newValue } }
    }
    /// A number that no other `init` in this process gave; copies share it.
    public var uniqueIdentifier: Int64 { fields.value.uniqueIdentifier }

    /// Shared by copies until one of them changes: a load keeps several, few of which differ.
    private var fields: CopyOnWrite<Fields>

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
        var options: [ObjectIdentifier: StoredOption] = [:]
    }

    /// Makes a GET request with the defaults above.
    public init(url: URL, sourceIdentifier: String? = nil) {
        let identifier = Self.identifiers.withLock { last in
            last &+= 1
            return last
        }
        fields = CopyOnWrite(
            Fields(url: url, sourceIdentifier: sourceIdentifier, uniqueIdentifier: identifier))
    }

    /// A typed fact attached to the request.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get {
            let stored = fields.value.options[ObjectIdentifier(option)]
            return stored?.value as? Option.Value ?? Option.defaultValue
        }
        set {
            let stored = StoredOption(value: newValue, staysWithOrigin: option.staysWithOrigin)
            fields.change { $0.options[ObjectIdentifier(option)] = stored }
        }
    }

    /// Forgets the options that were made for one origin.
    mutating func dropOptionsOfOrigin() {
        guard fields.value.options.contains(where: \.value.staysWithOrigin) else { return }
        fields.change { $0.options = $0.options.filter { !$0.value.staysWithOrigin } }
    }

    /// Whether any option was set, which most requests have not.
    package var hasOptions: Bool { !fields.value.options.isEmpty }

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
