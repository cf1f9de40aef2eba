// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Keeps signals away from a thread.
enum BlockedSignals {
    /// Blocks every asynchronous signal, as a library's thread in a daemon must.
    ///
    /// That includes SIGPIPE, which would end the process when the reader of standard error is
    /// gone: a write to a pipe has no flag against it, as a send to a socket has.
    static func blockAll() {
        var all = sigset_t()
        sigfillset(&all)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            sigdelset(&all, fault)
        }
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
