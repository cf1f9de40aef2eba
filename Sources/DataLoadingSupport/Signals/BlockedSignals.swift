// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#else
    package import Darwin
#endif

/// The signals that a library's thread in a daemon must not receive.
package enum BlockedSignals {
    /// Every asynchronous signal: all but those that a fault of the thread itself raises.
    package static var all: sigset_t {
        var all = sigset_t()
        sigfillset(&all)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&all, fault)
        }
        return all
    }

    /// Blocks them on the calling thread.
    ///
    /// SIGPIPE is among them, which would end the process when the reader of standard error is
    /// gone: a write to a pipe has no flag against it, as a send to a socket has.
    package static func blockAll() {
        var all = all
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
