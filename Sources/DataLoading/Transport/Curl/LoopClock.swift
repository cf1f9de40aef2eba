// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The loop's own clock: nanoseconds of `CLOCK_MONOTONIC`, read without a system call.
    enum LoopClock {
        static var now: Int64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }

        /// An instant so long after another, or the last there is.
        static func instant(_ start: Int64, after duration: Duration) -> Int64 {
            let (sum, overflow) = start.addingReportingOverflow(max(0, duration.wholeNanoseconds))
            return overflow ? .max : sum
        }

        /// Milliseconds from now to an instant, rounded up, as `epoll_wait` takes them.
        static func milliseconds(until instant: Int64, from now: Int64) -> Int32 {
            guard instant > now else { return 0 }
            let (rest, overflow) = instant.subtractingReportingOverflow(now)
            guard !overflow else { return .max }
            return Int32(clamping: rest / 1_000_000 + (rest % 1_000_000 == 0 ? 0 : 1))
        }
    }
#endif
