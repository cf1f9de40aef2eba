// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A thread that blocks every asynchronous signal, as a library's thread in a daemon must.
///
/// That includes SIGPIPE: a libcurl older than 7.88 may write to a closed TLS connection
/// without MSG_NOSIGNAL, and a library must not change how the process handles the signal.
enum LoopThread {
    /// Starts a thread; nil when the process can have no more.
    ///
    /// `stackSize` is in bytes; nil means the system's default of several MiB.
    static func start(
        _ name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> pthread_t? {
        var all = BlockedSignals.all
        var old = sigset_t()
        // The thread inherits the mask, so that it never runs without it.
        pthread_sigmask(SIG_SETMASK, &all, &old)
        defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
        let start = Unmanaged.passRetained(ThreadBody(name: name, body: body))
        var thread = pthread_t(bitPattern: 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        let failure = pthread_create(&thread, &attributes, runThreadBody, start.toOpaque())
        guard failure == 0 else {
            start.release()
            return nil
        }
        return thread
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThreadBody(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let start else { return nil }
    let thread = Unmanaged<ThreadBody>.fromOpaque(start).takeRetainedValue()
    ccurl_name_thread(thread.name)
    thread.body()
    return nil
}
