// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What to load: a value that can be performed any number of times, each time as a load of its own.
public struct DataLoaderRequest: Sendable {
    /// The absolute http or https URL; a fragment is not sent, user information is refused.
    public var url: URL
    /// A name for the feature that asks, for consumption observers; default nil.
    public var sourceIdentifier: String?
    /// The method; default GET.
    public var method: HTTPMethod = .get
    /// The header fields; default none.
    ///
    /// The transport adds Host, length and coding itself.
    public var headers = HTTPHeaders()
    /// What is sent after the head; default nothing.
    public var body: RequestBody?
    /// The limit for the whole load, waits and retries included; default nil.
    ///
    /// nil means `Timeouts.total`, or no limit when `chunks` or a `responseSink` is set.
    public var timeout: Duration?
    /// How many attempts may follow the first; default nil.
    ///
    /// nil leaves it to the `retryPolicy` when there is one, else to the service, which has 0. It
    /// binds a policy too.
    public var maximumRetryCount: Int?
    /// When to try again; default nil: after jittered exponential pauses.
    public var retryPolicy: (any RetryPolicy)?
    /// Whether the body is delivered in chunks as it arrives; default false.
    public var chunks = false
    /// What a caching transport may do; default `.useProtocolPolicy`.
    public var cachePolicy: CachePolicy = .useProtocolPolicy
    /// What becomes of redirects; default `.follow`.
    public var redirectPolicy: RedirectPolicy = .follow
    /// Which loads of the same origin go first; default `.normal`.
    public var priority: Priority = .normal
    /// Whether sending it twice has the effect of sending it once; default nil.
    ///
    /// nil means by the method, or true when there is an `Idempotency-Key` field.
    public var isIdempotent: Bool?
    /// Whether a load without a connection waits for one until its deadline; default false.
    ///
    /// While it waits, addresses are tried again with growing pauses, and the delegate is told once.
    public var waitsForConnectivity = false
    /// A number that no other `init` in this process gave; copies share it.
    public let uniqueIdentifier: Int64

    private var options: [ObjectIdentifier: any Sendable] = [:]

    /// Makes a GET request with the defaults above.
    public init(url: URL, sourceIdentifier: String? = nil) {
        self.url = url
        self.sourceIdentifier = sourceIdentifier
        uniqueIdentifier = Self.identifiers.withLock { last in
            last &+= 1
            return last
        }
    }

    /// A typed fact attached to the request.
    public subscript<Option: RequestOption>(option option: Option.Type) -> Option.Value {
        get { options[ObjectIdentifier(option)] as? Option.Value ?? Option.defaultValue }
        set { options[ObjectIdentifier(option)] = newValue }
    }

    /// Whether any option was set, which most requests have not.
    package var hasOptions: Bool { !options.isEmpty }

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
