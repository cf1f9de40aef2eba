// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Adds a user name and a password, as Basic authentication has them (RFC 7617).
///
/// A request's own `BasicCredentials` come first, then those that are stored, then the provider is
/// asked: once, however many loads wait for its answer. A TRACE request gets none.
///
/// When a server refuses stored credentials with a 401 the provider is told, and asked for others for
/// the same load. While it takes longer than 30 seconds, and when it has none but the same, they are
/// used all the same: the refusal may be one resource's own. For 30 seconds from then on nobody is asked
/// again, and a 401 is delivered. So it is without a provider, and that of a request's own credentials. A
/// 403 is delivered. A sixth question to the provider within 30 seconds is refused:
/// `AuthorisationError.tooManyRefreshes`.
/// User information in a URL is not read: a load with any ends `.invalidRequest`.
public final class BasicAuthoriser: Authoriser {
    /// A name for logs.
    public let identifier: String
    private let scope: HostScope
    private let provider: WeakProvider
    private let desk: CredentialDesk<BasicCredentials>

    /// Makes an authoriser.
    ///
    /// - Parameters:
    ///   - identifier: A name for logs.
    ///   - hosts: The hosts that may see stored credentials, each for itself: a name as in
    ///     a URL, without regard to case, or an address, which means the scheme's own port;
    ///     "api.example.com:8443" means that port, and "localhost:*" any. Other
    ///     hosts, also those below one, are asked without, unless a request has its own. Malformed
    ///     hosts, and none at all, end each load that has no credentials of its own `.invalidConfiguration`.
    ///   - allowsPlainLoopback: Whether `http` to 127.0.0.1, ::1 and localhost may see credentials,
    ///     for development; otherwise, and by default, only `https` does.
    ///   - credentials: What is stored from the start.
    ///   - provider: Whom to ask when nothing is stored; held weakly.
    public convenience init(
        identifier: String = "basic", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        credentials: BasicCredentials? = nil, provider: (any BasicCredentialsProvider)? = nil
    ) {
        self.init(
            identifier: identifier, hosts: hosts, allowsPlainLoopback: allowsPlainLoopback,
            credentials: credentials, provider: provider, timekeeper: SystemTimekeeper())
    }

    /// Makes an authoriser whose time is a test's.
    package init(
        identifier: String = "basic", hosts: Set<String>, allowsPlainLoopback: Bool = false,
        credentials: BasicCredentials? = nil, provider: (any BasicCredentialsProvider)? = nil,
        timekeeper: any Timekeeper
    ) {
        self.identifier = identifier
        scope = HostScope(hosts, allowsPlainLoopback: allowsPlainLoopback)
        let weakProvider = WeakProvider(provider)
        self.provider = weakProvider
        var rules = CredentialRules()
        rules.limit = nil
        rules.backOff = nil
        desk = CredentialDesk(
            rules, first: credentials, agenda: Agenda(timekeeper: timekeeper),
            apply: { $1.headers["Authorization"] = $0.fieldValue },
            fetch: { previous, _ in
                guard let given = try await weakProvider.value?.basicCredentials(),
                    given != previous
                else { return nil }
                return Fetched(given, lifetime: nil)
            })
    }

    /// Throws `.invalidConfiguration` when a host is malformed or there is none; for a program's start.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// Whether the request has credentials of its own and goes over https, or goes to one of the
    /// hosts, safely; and has no `Authorization` yet.
    public func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        request[option: BasicCredentials.self] == nil
            ? scope.covers(request) : scope.isSafe(request)
    }

    /// Answers with the credentials: at once, or when the provider has given some.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        guard let own = request[option: BasicCredentials.self] else {
            if let fault = scope.fault {
                return delegate.authoriser(
                    self, didFailToAuthorise: request, error: OwnFault(fault))
            }
            return desk.authorise(request, by: self, for: delegate)
        }
        var authorised = request
        authorised.headers["Authorization"] = own.fieldValue
        authorised.keepCredentialOnThisMachine()
        delegate.authoriser(self, authorised: authorised)
    }

    /// Whether there are newer credentials than those that were sent, or somebody to ask for some.
    public func canRecover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool {
        guard request[option: BasicCredentials.self] == nil else { return false }
        return provider.value != nil || desk.hasNewer(than: request, by: self)
    }

    /// Asks for others than those that the request was sent with, where there is a provider.
    public func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {
        // A refusal may be one resource's, or a moment's: without others these are the best there are.
        guard let provider = provider.value, let refused = desk.refused(request, by: self) else {
            return
        }
        provider.basicCredentialsWereRefused(refused)
    }

    /// Lets the load go; the provider's answer is kept for the next one.
    public func cancelAuthorisation(of request: DataLoaderRequest) {
        desk.cancel(request)
    }

    /// Asks the provider; loads that come meanwhile wait for its answer.
    public func refresh() {
        desk.refresh()
    }

    /// Forgets the credentials, and fails whoever waits for some.
    public func reset() async {
        await desk.reset()
    }

    private struct WeakProvider: Sendable {
        weak let value: (any BasicCredentialsProvider)?

        init(_ value: (any BasicCredentialsProvider)?) {
            self.value = value
        }
    }
}

extension BasicAuthoriser: Validatable {
    var malformedPart: DataLoaderError? { scope.fault }
}

/// Gives a `BasicAuthoriser` credentials: from a person, a keychain or a file.
public protocol BasicCredentialsProvider: AnyObject, Sendable {
    /// Returns credentials; nil, or a thrown error, ends the loads that wait `.cannotAuthenticate`, unless
    /// there are some that a server has refused.
    ///
    /// Called in a task of its own, one call at a time. It may take as long as it needs: the loads
    /// have their deadlines, and its answer is kept for the next one. A reset cancels the task, and
    /// an answer that comes after it is dropped.
    func basicCredentials() async throws -> BasicCredentials?

    /// A server refused credentials; once for each. When there are no others they are used again. Called
    /// on any thread.
    func basicCredentialsWereRefused(_ credentials: BasicCredentials)
}

extension BasicCredentialsProvider {
    /// Does nothing.
    public func basicCredentialsWereRefused(_ credentials: BasicCredentials) {}
}
