// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Asks the authorisers that one attempt needs, one after another, and records which took part.
///
/// Each authoriser receives the request that the one before it returned. The chain calls user code:
/// use a copy of it on the factory's queue, and under no lock.
///
/// ```
/// switch chain.ask(for: work) {
/// case .unchanged: send(request)
/// case .use(let authorised): send(authorised)
/// case .refuse(let error): end(chain.failure(error))
/// case .later(let body): // in a task: chain.take(try await body()); then ask the rest
/// }
/// ```
struct AuthoriserChain: Sendable {
    /// The credentials that a request was sent with, by authoriser.
    typealias Stamps = [ObjectIdentifier: CredentialStamp]

    /// The request, with what the authorisers have added so far.
    private(set) var request: DataLoaderRequest
    /// Which of the first 64 authorisers returned something other than `.unchanged`: a bit each.
    private var firstParticipants: UInt64 = 0
    /// The others that did.
    private var otherParticipants: [any Authoriser] = []
    private let concerned: [any Authoriser]
    /// The number of those that were asked.
    private var asked = 0

    /// Makes the chain of one attempt; throws when the request names a method that no authoriser
    /// has.
    ///
    /// The authoriser of the proxy is the last. `refused` holds the credentials of an earlier
    /// attempt that the server or the proxy refused.
    init(
        _ request: DataLoaderRequest, _ authorisers: [any Authoriser],
        proxy: ProxyAuthoriser? = nil, refused: Stamps = [:]
    ) throws(AuthorisationError) {
        self.request = request
        let others =
            request.skipsAuthorisation ? [] : try Self.concerned(by: request, authorisers)
        // A sum of arrays would be allocated, also where nothing is added.
        concerned = proxy.map { others + [$0] } ?? others
        if !refused.isEmpty { self.request[option: CredentialStamps.self] = refused }
    }

    /// Whether every authoriser was asked.
    var isOver: Bool { asked == concerned.count }

    /// The authoriser that was asked last.
    private var last: (any Authoriser)? { asked > 0 ? concerned[asked - 1] : nil }

    /// The credentials in the request: of the proxy's authoriser, or of the others.
    func stamps(ofProxy isProxy: Bool) -> Stamps {
        let key = (concerned.last as? ProxyAuthoriser)?.stampKey
        return request[option: CredentialStamps.self].filter { ($0.key == key) == isProxy }
    }

    /// Whether an authoriser returned something other than `.unchanged`.
    var hasParticipants: Bool { firstParticipants != 0 || !otherParticipants.isEmpty }

    /// The authorisers that did, in the order in which they were asked.
    var participants: [any Authoriser] {
        let first = concerned.prefix(64).enumerated().filter { index, _ in
            firstParticipants & (1 << UInt64(index)) != 0
        }
        return first.map(\.element) + otherParticipants
    }

    /// Asks the remaining authorisers until one refuses or answers later.
    ///
    /// Loads that an authoriser performs here count as work for this load while `work` is open.
    /// When it is over, no further authoriser is asked; the caller has looked before the first one.
    mutating func ask(for work: AuthorisersWork) -> Authorisation {
        while !isOver, asked == 0 || work.isOpen {
            let (authoriser, request) = (concerned[asked], request)
            asked += 1
            let answer = work.perform { authoriser.authorise(request) }
            switch answer {
            case .unchanged: continue
            case .use(let authorised): take(authorised)
            case .refuse: return answer
            case .later(let body):
                return .later { try await work.perform { try await body() } }
            }
        }
        return hasParticipants ? .use(request) : .unchanged
    }

    /// Stores the request that an authoriser returned.
    mutating func take(_ authorised: DataLoaderRequest) {
        if (1...64).contains(asked) {
            firstParticipants |= 1 << UInt64(asked - 1)
        } else if let last {
            otherParticipants.append(last)
        }
        request = authorised
    }

    /// Returns the error that ends the load, from the error of the authoriser that was asked last.
    func failure(_ error: any Error) -> DataLoaderError {
        // The library's authorisers may give the load's error directly.
        if let own = (error as? OwnFault)?.error { return own }
        return .cannotAuthenticate(last?.identifier ?? "authoriser", because: error)
    }

    /// Tells each authoriser that took part of a 401, or that of the proxy of a 407; returns
    /// whether to send the request again.
    func recover(_ sent: DataLoaderRequest, from response: DataLoaderResponse) -> Bool {
        let isProxys = response.statusCode == .proxyAuthenticationRequired
        return participants.eachOnce.filter { ($0 is ProxyAuthoriser) == isProxys }
            .reduce(false) { $1.recover(sent, from: response) || $0 }
    }

    /// Returns the authorisers to ask: those without a method, and those that the request names.
    ///
    /// The named ones are placed where the factory's list has its first authoriser with a method.
    private static func concerned(
        by request: DataLoaderRequest, _ authorisers: [any Authoriser]
    ) throws(AuthorisationError) -> [any Authoriser] {
        let names = request.authenticationMethods
        for name in names where !authorisers.contains(where: { $0.method == name }) {
            throw .unknownMethod(name)
        }
        guard let place = authorisers.firstIndex(where: { $0.method != nil }) else {
            return authorisers
        }
        let named = names.flatMap { name in authorisers.filter { $0.method == name } }
        let others = authorisers.dropFirst(place).filter { $0.method == nil }
        return authorisers[..<place] + named.eachOnce + others
    }
}
