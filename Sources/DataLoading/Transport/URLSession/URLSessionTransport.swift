// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport on Foundation's `URLSession`: the default on Apple's platforms; on Linux for
/// configurations with `URLProtocol` classes of their own.
///
/// One session lives as long as the transport. Its cache, cookies and stored credentials are
/// switched off, whatever the configuration says, and so are its own time limits: the attempt's
/// hold. The number of connections a host is the service's to limit. Sinks are called on a
/// background queue, one call at a time for each attempt.
///
/// The session tells nobody when it has connected. An attempt that shows no sign of life has its
/// `connectTimeout` and its `idleTimeout` together, and then fails `.idleTimeout`.
///
/// An attempt fails `.unsupported`, before anything is sent, that asks for an `address` to dial,
/// for pins or private authorities that concern its host, for the refusal of private addresses, or
/// for a GET with a body. A fresh connection cannot be had, `expectsContinue` is not looked at, and
/// fields of a head come in the order of their names, those of one name joined.
///
/// On Linux (Swift 6.3.1) Foundation lacks more; prefer `CurlTransport` there.
///
/// - A server that closes inside a head, or sends trailers, ends the **process**.
/// - Nothing can be held back: `pause` only keeps what comes, at most `window` bytes of it, and then
///   the attempt fails `.unsupported`.
/// - No byte on the wire is counted but those of request bodies; reports have no times of phases.
/// - A failure of TLS is told from others by its text; a gzip body that is cut off counts as whole.
/// - A request may be sent a second time on a new connection, `maySendTwice` or not.
/// - Files, forms and streams are sent chunked, and hold up every session of the process while they
///   are read.
/// - The environment's `http_proxy` is used, `User-Agent` is sent, a body without a `Content-Type`
///   gets that of a form, and dot segments of a path are resolved.
public final class URLSessionTransport: Transport {
    private enum State {
        case open(URLSession, starting: Int)
        case closing(URLSession, starting: Int)
        case closed
    }

    private let attempts: URLSessionAttempts
    private let state: Locked<State>
    private let agenda: Agenda
    private let window: Int

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: Copied; its `protocolClasses` are asked first.
    ///   - window: The most response bytes that wait for a sink, in bytes; 16 MiB by default. An
    ///     attempt that is not streamed may have its whole `bodyLimit` waiting.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, window: Int = 16_777_216
    ) {
        self.init(
            configuration: configuration, window: window,
            agenda: Agenda(timekeeper: SystemTimekeeper()))
    }

    init(configuration: URLSessionConfiguration, window: Int, agenda: Agenda) {
        let attempts = URLSessionAttempts()
        let queue = OperationQueue()
        queue.name = "DataLoading.session"
        // On Linux a concurrent queue delivers pieces of a body out of order.
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(
            configuration: Self.ownConfiguration(configuration),
            delegate: URLSessionBridge(attempts), delegateQueue: queue)
        self.attempts = attempts
        self.agenda = agenda
        self.window = max(1, window)
        state = Locked(.open(session, starting: 0))
    }

    deinit {
        // Attempts that run are finished; the session then lets its delegate go.
        if case .open(let session, _) = state.withLock({ $0 }) {
            session.finishTasksAndInvalidate()
        }
    }

    /// Starts one attempt.
    public func start(
        _ attempt: TransportRequest, sink: any TransportSink
    ) -> any TransportTask {
        let running = URLSessionAttempt(
            attempt, sink: sink, agenda: agenda, window: window, attempts: attempts)
        attempts.begin(running)
        do throws(DataLoaderError) {
            let request = try URLSessionRequest.make(attempt) { [weak running] error in
                running?.stop(error)
            }
            guard let session = beginStart() else { throw .serviceInvalidated }
            // A task that is made after the session's end stops the process on Linux: the session
            // is not ended before this is through.
            let task = session.dataTask(with: request)
            attempts.add(running, for: task.taskIdentifier)
            running.run(task)
            endStart()
        } catch {
            running.refuse(error)
        }
        return running
    }

    /// Drops what the session can drop: its connections on Apple's platforms, nothing on Linux.
    public func reset() async {
        guard case .open(let session, _) = state.withLock({ $0 }) else { return }
        await Self.dropConnections(of: session)
    }

    /// Ends every attempt with `.serviceInvalidated`, and returns when each was told.
    public func shutDown() async {
        let ended: URLSession? = state.withLock { state in
            switch state {
            case .open(let session, starting: 0):
                state = .closed
                return session
            case .open(let session, let starting):
                state = .closing(session, starting: starting)
                return nil
            case .closing, .closed: return nil
            }
        }
        // Each cancels its own task: on Linux a session that does so itself stops the process when
        // one of them is just ending.
        attempts.stopAll(.serviceInvalidated)
        ended?.finishTasksAndInvalidate()
        await attempts.waitUntilEmpty()
    }

    private func beginStart() -> URLSession? {
        state.withLock { state in
            guard case .open(let session, let starting) = state else { return nil }
            state = .open(session, starting: starting + 1)
            return session
        }
    }

    private func endStart() {
        let ended: URLSession? = state.withLock { state in
            switch state {
            case .open(let session, let starting):
                state = .open(session, starting: starting - 1)
                return nil
            case .closing(let session, starting: 1):
                state = .closed
                return session
            case .closing(let session, let starting):
                state = .closing(session, starting: starting - 1)
                return nil
            case .closed: return nil
            }
        }
        guard let ended else { return }
        attempts.stopAll(.serviceInvalidated)
        ended.finishTasksAndInvalidate()
    }

    private static func ownConfiguration(
        _ configuration: URLSessionConfiguration
    ) -> URLSessionConfiguration {
        let own = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.httpCookieStorage = nil
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        own.urlCredentialStorage = nil
        own.timeoutIntervalForRequest = URLSessionRequest.endlessInterval
        own.timeoutIntervalForResource = URLSessionRequest.endlessInterval
        own.httpMaximumConnectionsPerHost = 1_000
        return own
    }
}
