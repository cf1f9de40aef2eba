// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Has an authoriser for each method; a request names those that it wants.
///
/// ```swift
/// let composite = CompositeAuthoriser([.basic: basic, .bearer: token])
/// let factory = service.makeFactory(authorisers: [composite])
/// request[option: AuthenticationMethod.self] = [.bearer]
/// ```
///
/// A request that names none is passed on as it is. One that names an unknown method ends
/// `.cannotAuthenticate`, and nobody is asked. Those that are named are asked in the order of the
/// names, as far as they want to be: each has its say about hosts. A factory has one composite at
/// most; other authorisers may stand beside it.
public final class CompositeAuthoriser: Authoriser {
    /// A name for logs.
    public let identifier: String
    private let methods: [AuthenticationMethod: any Authoriser]
    /// Who is being asked about which load.
    private let asked = Locked<[AuthorisationTicket: any Authoriser]>([:])

    /// How many loads somebody is being asked about.
    var askedCount: Int { asked.withLock { $0.count } }

    /// Makes an authoriser from others; one may stand under several names.
    public init(
        _ methods: [AuthenticationMethod: any Authoriser], identifier: String = "composite"
    ) {
        self.methods = methods
        self.identifier = identifier
    }

    /// Throws `.invalidConfiguration` when a host of one of its authorisers is malformed, or one has
    /// none; for a program's start.
    public func validate() throws(DataLoaderError) {
        if let malformedPart { throw malformedPart }
    }

    /// Whether the request names a method.
    public func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        !request[option: AuthenticationMethod.self].isEmpty
    }

    /// Asks those whom the request names, one after the other.
    public func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        let names = request[option: AuthenticationMethod.self]
        if let unknown = names.first(where: { methods[$0] == nil }) {
            return delegate.authoriser(
                self, didFailToAuthorise: request,
                error: AuthorisationError.unknownMethod(unknown))
        }
        authorise(request, names[...], for: delegate)
    }

    fileprivate func authorise(
        _ request: DataLoaderRequest, _ names: ArraySlice<AuthenticationMethod>,
        for delegate: any AuthoriserDelegate
    ) {
        let ticket = request[option: AuthorisationTicket.self]
        for index in names.indices {
            guard let authoriser = methods[names[index]],
                authoriser.requiresAuthorisation(request)
            else { continue }
            if let ticket {
                asked.withLock { $0[ticket] = authoriser }
                // Ended meanwhile: nobody would say so any more.
                if delegate.isAbandoned { return forget(ticket) }
            }
            let step = CompositeStep(
                composite: self, name: names[index], rest: names[(index + 1)...],
                ticket: ticket, delegate: delegate)
            return authoriser.authorise(request, for: step)
        }
        if let ticket { forget(ticket) }
        delegate.authoriser(self, authorised: request)
    }

    fileprivate func failed(
        _ request: DataLoaderRequest, _ error: any Error, for delegate: any AuthoriserDelegate
    ) {
        if let ticket = request[option: AuthorisationTicket.self] { forget(ticket) }
        delegate.authoriser(self, didFailToAuthorise: request, error: error)
    }

    /// Whether any of those that took part can.
    public func canRecover(
        _ request: DataLoaderRequest, from response: DataLoaderResponse
    ) -> Bool {
        participants(in: request).contains { $0.canRecover(request, from: response) }
    }

    /// Tells those that took part.
    public func requestFailedAuthorisation(
        _ request: DataLoaderRequest, response: DataLoaderResponse
    ) {
        for authoriser in participants(in: request) {
            authoriser.requestFailedAuthorisation(request, response: response)
        }
    }

    /// Tells the one that is being asked.
    public func cancelAuthorisation(of request: DataLoaderRequest) {
        guard let ticket = request[option: AuthorisationTicket.self] else { return }
        asked.withLock { $0.removeValue(forKey: ticket) }?.cancelAuthorisation(of: request)
    }

    /// Refreshes all of them.
    public func refresh() {
        for authoriser in authorisers { authoriser.refresh() }
    }

    /// Resets each of them once, all at the same time: one that hangs keeps no other from it.
    public func reset() async {
        await withTaskGroup(of: Void.self) { group in
            for authoriser in authorisers { group.addTask { await authoriser.reset() } }
        }
    }

    fileprivate func forget(_ ticket: AuthorisationTicket) {
        _ = asked.withLock { $0.removeValue(forKey: ticket) }
    }

    /// Each one once, though it may have several names.
    private var authorisers: [any Authoriser] { Array(methods.values).eachOnce }

    private func participants(in request: DataLoaderRequest) -> [any Authoriser] {
        request[option: CompositeParticipants.self].compactMap { methods[$0] }.eachOnce
    }
}

extension CompositeAuthoriser: Validatable {
    var malformedPart: DataLoaderError? {
        methods.values.lazy.compactMap { ($0 as? any Validatable)?.malformedPart }.first
    }
}

/// The methods whose authorisers took part in a request.
private enum CompositeParticipants: RequestOption {
    static var defaultValue: [AuthenticationMethod] { [] }

    static func add(_ name: AuthenticationMethod, to request: inout DataLoaderRequest) {
        request[option: Self.self].append(name)
    }
}

/// Hears one authoriser's answer, and goes on to the next.
private final class CompositeStep: AuthorisationQuestion {
    /// Weak, as an authoriser may keep this for ever; while a load waits, its factory keeps the rest.
    private weak let composite: CompositeAuthoriser?
    private let name: AuthenticationMethod
    private let rest: ArraySlice<AuthenticationMethod>
    private let ticket: AuthorisationTicket?
    private let delegate: any AuthoriserDelegate
    private let isAnswered = Locked(false)

    init(
        composite: CompositeAuthoriser, name: AuthenticationMethod,
        rest: ArraySlice<AuthenticationMethod>, ticket: AuthorisationTicket?,
        delegate: any AuthoriserDelegate
    ) {
        self.composite = composite
        self.name = name
        self.rest = rest
        self.ticket = ticket
        self.delegate = delegate
    }

    deinit {
        // Dropped without an answer.
        if let ticket, isFirst() { composite?.forget(ticket) }
    }

    func authoriser(_ authoriser: any Authoriser, authorised request: DataLoaderRequest) {
        guard isFirst() else { return }
        var request = request
        CompositeParticipants.add(name, to: &request)
        guard !rest.isEmpty, let question = delegate as? any AuthorisationQuestion else {
            return goOn(with: request)
        }
        // Not here, where the one before has answered: the next one may block.
        question.ask(further: { [request] in self.goOn(with: request) })
    }

    private func goOn(with request: DataLoaderRequest) {
        composite?.authorise(request, rest, for: delegate)
    }

    func authoriser(
        _ authoriser: any Authoriser, didFailToAuthorise request: DataLoaderRequest,
        error: any Error
    ) {
        guard isFirst() else { return }
        composite?.failed(request, error, for: delegate)
    }

    var isOpen: Bool { !delegate.isAbandoned }

    func ask(further body: @escaping @Sendable () -> Void) {
        guard let question = delegate as? any AuthorisationQuestion else { return body() }
        question.ask(further: body)
    }

    func hold(_ task: Task<Void, Never>) {
        (delegate as? any AuthorisationQuestion)?.hold(task)
    }

    private func isFirst() -> Bool {
        isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
    }
}
