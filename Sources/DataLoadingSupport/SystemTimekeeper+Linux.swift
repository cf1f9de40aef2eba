// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    extension SystemTimekeeper {
        /// The time since the machine started, including sleep.
        ///
        /// Read without a system call and without `Duration`'s 128 bits, which cost ten times as
        /// much.
        package var now: Instant {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        }
    }
#endif
