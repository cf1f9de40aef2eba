// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
public import DataLoadingSupport
public import Foundation

/// Describes one HTTP request and how to load it.
///
/// ```swift
/// var request = DataLoaderRequest(url: feed)
/// request.timeout = .seconds(20)
/// loader.perform(request)
/// ```
/// A request is a value and can be performed any number of times. Each time is a separate load.
public struct DataLoaderRequest: Sendable, OpaquelyMirrored {
    /// The absolute http or https URL.
    ///
    /// A fragment is not sent. User information is refused: the load ends `.invalidRequest`.
    public var url: URL {
        get { fields.value.url }
        set {
            let target = Self.target(of: newValue)
            fields.change { ($0.url, $0.target) = (newValue, target) }
        }
    }
    /// A name for the feature that makes the request, for consumption observers; default nil.
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
    /// The transport adds `Host`, the length and the transfer coding. A load that sets one of these
    /// fields ends `.invalidRequest`.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.change { $0.headers = newValue } }
    }
    /// The body; default none.
    public var body: RequestBody? {
        get { fields.value.body }
        set { fields.change { $0.body = newValue } }
    }
    /// The time limit for the whole load, waits and retries included; default nil.
    ///
    /// With zero or less, as when the time of a deadline is up, the load ends `.timedOut` at once.
    /// With nil, `Timeouts.total` applies. A load with `chunks` or a `responseSink` other than
    /// `.memory` then has no limit.
    public var timeout: Duration? {
        get { fields.value.timeout }
        set { fields.change { $0.timeout = newValue } }
    }
    /// The maximum time without a byte sent or received; default nil.
    ///
    /// With nil, `Timeouts.idle` applies. An event stream that may be quiet for minutes needs more.
    /// A limit shorter than `Timeouts.idle` ends only this load: it does not count against the
    /// server's address. With zero or less the load ends `.invalidRequest`.
    public var idleTimeout: Duration? {
        get { fields.value.idleTimeout }
        set { fields.change { $0.idleTimeout = newValue } }
    }
    /// The kind of connection slot that the load takes; default `.shared`.
    ///
    /// A load that runs for long, such as an event stream, takes `.stream`.
    public var slotUse: SlotUse {
        get { fields.value.slotUse }
        set { fields.change { $0.slotUse = newValue } }
    }
    /// The maximum number of retries after the first attempt; default nil.
    ///
    /// With nil the `retryPolicy` decides, and without a policy the service's
    /// `RetryConfiguration.maximumRetryCount`, which is 0 by default. A `retryPolicy` cannot exceed
    /// a maximum that is set here. With a negative number the load ends `.invalidRequest`.
    public var maximumRetryCount: Int? {
        get { fields.value.maximumRetryCount }
        set { fields.change { $0.maximumRetryCount = newValue } }
    }
    /// Decides when a failed attempt is retried; default nil.
    ///
    /// With nil, retries follow jittered exponential pauses.
    public var retryPolicy: (any RetryPolicy)? {
        get { fields.value.retryPolicy }
        set { fields.change { $0.retryPolicy = newValue } }
    }
    /// Whether the body is delivered in chunks as it arrives; default false.
    public var chunks: Bool {
        get { fields.value.chunks }
        // What is set again would copy the storage that requests share.
        set { if newValue != chunks { fields.change { $0.chunks = newValue } } }
    }
    /// Controls how the load uses the service's cache; default `.useProtocolPolicy`.
    public var cachePolicy: CachePolicy {
        get { fields.value.cachePolicy }
        set { fields.change { $0.cachePolicy = newValue } }
    }
    /// Decides whether the load follows redirects; default `.follow`.
    public var redirectPolicy: RedirectPolicy {
        get { fields.value.redirectPolicy }
        set { fields.change { $0.redirectPolicy = newValue } }
    }
    /// The order among loads that wait for the same slots; default `.normal`.
    public var priority: Priority {
        get { fields.value.priority }
        set { fields.change { $0.priority = newValue } }
    }
    /// Whether sending the request twice has the same effect as sending it once; default nil.
    ///
    /// With nil the method decides, and an `Idempotency-Key` field makes any request idempotent.
    public var isIdempotent: Bool? {
        get { fields.value.isIdempotent }
        set { fields.change { $0.isIdempotent = newValue } }
    }
    /// Whether a load that cannot connect waits for a connection until its deadline; default false.
    ///
    /// A load whose authoriser cannot connect to fetch a credential waits as well.
    /// While it waits, the load tries the addresses again with growing pauses. The delegate is told
    /// once.
    public var waitsForConnectivity: Bool {
        get { fields.value.waitsForConnectivity }
        set { fields.change { $0.waitsForConnectivity = newValue } }
    }
    /// A number that each `init` in this process uses once; copies share it.
    public var uniqueIdentifier: Int64 { fields.value.uniqueIdentifier }

    /// Copy-on-write storage: a load keeps several copies, and few of them differ.
    private var fields: CopyOnWrite<Fields>

    private struct Fields: Sendable {
        var url: URL
        /// The parts of the URL, so that a request that is performed often is parsed once.
        var target: Result<RequestTarget, RequestFault>
        var sourceIdentifier: String?
        var method: HTTPMethod = .get
        var headers: HTTPHeaders = HTTPHeaders()
        var body: RequestBody?
        var timeout: Duration?
        var idleTimeout: Duration?
        var slotUse: SlotUse = .shared
        var maximumRetryCount: Int?
        var retryPolicy: (any RetryPolicy)? {
            didSet { hasRetryPolicy = retryPolicy != nil }
        }
        /// Whether there is one; asking the policy itself copies it.
        private(set) var hasRetryPolicy = false
        var chunks: Bool = false
        var cachePolicy: CachePolicy = .useProtocolPolicy
        var redirectPolicy: RedirectPolicy = .follow
        var priority: Priority = .normal
        var isIdempotent: Bool?
        var waitsForConnectivity: Bool = false
        let uniqueIdentifier: Int64
        var options = RequestOptions()
        /// Stays true when the option is set to its default again: values cannot be compared.
        var mayChooseCredentials = false
    }

    /// Makes a GET request with the defaults above.
    public init(url: URL, sourceIdentifier: String? = nil) {
        fields = CopyOnWrite(
            Fields(
                url: url, target: Self.target(of: url), sourceIdentifier: sourceIdentifier,
                uniqueIdentifier: Self.identifiers.next()))
    }

    /// The value of a typed option of the request.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get {
            // Asked here, where the compiler knows the option: a generic call into another module
            // looks its types up, which costs hundreds of instructions.
            let options = fields.value.options
            return options.isEmpty ? Option.defaultValue : options[option]
        }
        set {
            let isNeutral = !Option.staysWithOrigin || Option.self is any NeutralOption.Type
            fields.change {
                $0.options[option] = newValue
                if !isNeutral { $0.mayChooseCredentials = true }
            }
        }
    }

    /// Whether an option was ever set that an authoriser may turn into a credential.
    var mayChooseCredentials: Bool { fields.value.mayChooseCredentials }

    /// The origin, path and query of the URL; throws the fault of the part that is not allowed.
    package var target: RequestTarget {
        get throws(RequestFault) { try fields.value.target.get() }
    }

    private static func target(of url: URL) -> Result<RequestTarget, RequestFault> {
        Result { () throws(RequestFault) in try RequestTarget(url) }
    }

    /// Removes the options that belong to one origin.
    mutating func dropOptionsOfOrigin() {
        fields.change { $0.options.leaveOrigin() }
    }

    /// Whether neither of two copies was changed since one was made of the other.
    func sharesStorage(with other: DataLoaderRequest) -> Bool {
        fields.sharesStorage(with: other.fields)
    }

    /// Whether there is a retry policy.
    var hasRetryPolicy: Bool { fields.value.hasRetryPolicy }

    /// Whether any option was set; most requests have none.
    ///
    /// Other modules of the package ask first: to read an option there costs much more.
    package var hasOptions: Bool { !fields.value.options.isEmpty }

    /// The typed options.
    var options: RequestOptions { fields.value.options }

    /// Whether any option was set but one.
    func hasOptions(besides option: any RequestOption.Type) -> Bool {
        fields.value.options.hasOthers(than: option)
    }

    /// Whether the request may be sent twice, by `isIdempotent`, its method or its key.
    var mayBeSentTwice: Bool {
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
