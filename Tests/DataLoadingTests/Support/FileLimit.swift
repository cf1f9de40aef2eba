// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc

    /// Ends the process when the calling thread writes more than this many bytes to a file; false
    /// if the limit cannot be set.
    ///
    /// The signal is SIGXFSZ, which Dispatch threads block.
    func limitFiles(toLength limit: UInt) -> Bool {
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit(rlim_cur: limit, rlim_max: limit)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        guard setrlimit(resource, &limit) == 0,
            pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0
        else { return false }
        signal(SIGXFSZ, SIG_DFL)
        return true
    }
#endif
