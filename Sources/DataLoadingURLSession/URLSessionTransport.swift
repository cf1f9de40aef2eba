// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    import DataLoadingSupport
    public import DataLoadingTransport
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport on Foundation's `URLSession`: the default on Apple's platforms; on Linux for
/// configurations with `URLProtocol` classes.
///
/// On Linux it is compiled when the package's trait `URLSession` is enabled, which is off by
/// default: it links FoundationNetworking, and with `--static-swift-stdlib` needs libcurl at
/// link time as well. A daemon that has `CurlTransport` needs neither.
///
/// One session lives as long as the transport. Its cache, cookies and stored credentials are
/// disabled, whatever the configuration says, and so are its own time limits: those of the
/// attempt apply. The service limits the number of connections per host. Sinks are called on a
/// background queue, one call at a time for each attempt.
///
/// The session does not report when it has connected. An attempt without any activity has its
/// `connectTimeout` and its `idleTimeout` together, and then fails with `.idleTimeout`.
///
/// An attempt fails with `.unsupported`, before anything is sent, if it asks for an `address`
/// to connect to, for pins, private authorities or a client identity that concern its host, for
/// the refusal of private addresses, or for a GET with a body. A fresh connection cannot be
/// requested, `expectsContinue` is ignored, and the fields of a head are sorted by name, those
/// of one name joined.
///
/// On Linux (Swift 6.3.1) Foundation lacks more; prefer `CurlTransport` there.
///
/// - A server that closes inside a head, or sends trailers, ends the **process**.
/// - A cancellation takes effect when Foundation's one queue gets to it; until then a fast
///   server is read on.
/// - Back-pressure is not possible: `pause` keeps what comes, at most `window` bytes of it, and
///   then the attempt fails with `.unsupported`.
/// - `reset` keeps connections, which `checkTransport` finds; everything else of it passes.
/// - No byte on the wire is counted except those of request bodies; reports have no times of
///   phases.
/// - A response that comes during an upload can be lost to the reset behind it.
/// - A redirect without a `Location` that is a URL loses its body.
/// - A failure of TLS is recognised by its text; a gzip body that is cut off counts as
///   complete.
/// - A request may be sent a second time on a new connection, inside one attempt.
/// - Files, forms and streams are sent chunked, and block every session of the process while
///   they are read.
/// - The environment's `http_proxy` is used, `User-Agent` is sent, a body without a
///   `Content-Type` gets that of a form, and dot segments of a path are resolved.
public final class URLSessionTransport: Transport {
    private let attempts: URLSessionAttempts
    /// Nil after the end.
    ///
    /// It is confined to a queue for two reasons. On Linux making and starting a task waits for
    /// the one queue of all sessions, which the reading of a body may block. A task that is
    /// made after the session's end ends the process.
    let session: QueueIsolated<URLSession?>
    private let timerQueue: TimerQueue
    private let window: Int

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: Copied; its `protocolClasses` take precedence.
    ///   - window: The maximum number of response bytes that wait for a sink; 16 MiB by default.
    ///     For an attempt that is not streamed it is at least the `bodyLimit`. With less than one
    ///     byte every attempt ends `.invalidConfiguration`.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, window: Int = 16_777_216
    ) {
        self.init(
            configuration: configuration, window: window,
            timerQueue: TimerQueue(timekeeper: SystemTimekeeper()))
    }

    init(configuration: URLSessionConfiguration, window: Int, timerQueue: TimerQueue) {
        let attempts = URLSessionAttempts()
        let queue = OperationQueue()
        queue.name = "DataLoading.session"
        // On Linux a concurrent queue delivers pieces of a body out of order.
        queue.maxConcurrentOperationCount = 1
        let opened = URLSession(
            configuration: Self.ownConfiguration(configuration),
            delegate: URLSessionBridge(attempts), delegateQueue: queue)
        self.attempts = attempts
        self.timerQueue = timerQueue
        self.window = window
        session = QueueIsolated(opened, label: "DataLoading.session.tasks")
    }

    deinit {
        // Running attempts are finished; the session then releases its delegate.
        Self.end(session)
    }

    /// Starts one attempt; opens its body, and waits for the session, on a queue of its own.
    public func start(
        _ attempt: TransportRequest, sink: any TransportSink
    ) -> any TransportTask {
        let running = URLSessionAttempt(
            attempt, sink: sink, timerQueue: timerQueue, window: window, attempts: attempts)
        attempts.begin(running)
        running.scheduleDeadline()
        session.async { [attempts, window] session in
            guard !running.isOver else { return }
            do throws(DataLoaderError) {
                guard let session else { throw .serviceInvalidated }
                guard window > 0 else {
                    throw .malformed("URLSessionTransport.window", "is below one byte")
                }
                let request = try URLSessionRequest.make(
                    attempt, isStopped: { [weak running] in running?.isOver ?? true }
                ) { [weak running] error in
                    running?.stop(error)
                }
                let task = session.dataTask(with: request)
                attempts.add(running, for: task.taskIdentifier)
                running.run(task)
            } catch {
                running.refuse(error)
            }
        }
        return running
    }

    /// Drops what the session can drop: its connections on Apple's platforms, nothing on Linux.
    public func reset() async {
        await Self.dropConnections(of: session)
    }

    /// Ends every attempt with `.serviceInvalidated`, and returns when each sink has received
    /// the end.
    public func shutDown() async {
        Self.end(session)
        // Each attempt cancels its own task: on Linux a session that does so itself ends the
        // process when one of them is just ending.
        attempts.stopAll(.serviceInvalidated)
        await attempts.waitUntilEmpty()
    }

    private static func end(_ session: QueueIsolated<URLSession?>) {
        session.async { $0.take()?.finishTasksAndInvalidate() }
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
