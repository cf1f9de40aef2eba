// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import DataLoadingSupport
    import Glibc
#else
    import Musl
#endif

/// The loop's clocks in nanoseconds, which are read without a system call.
enum LoopClock {
    /// The time since the machine's start, sleep included; limits and lifetimes use it.
    static var now: Int64 { read(CLOCK_BOOTTIME) }

    /// The time that the machine was awake, which libcurl and `epoll_wait` use.
    static var uptime: Int64 { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// Returns the instant after a duration, or the maximum when it overflows.
    static func instant(_ start: Int64, after duration: Duration) -> Int64 {
        let (sum, overflow) = start.addingReportingOverflow(max(0, duration.wholeNanoseconds))
        return overflow ? .max : sum
    }

    /// Returns the milliseconds until an instant, rounded up, as `epoll_wait` takes them.
    static func milliseconds(until instant: Int64, from now: Int64) -> Int32 {
        guard instant > now else { return 0 }
        let (rest, overflow) = instant.subtractingReportingOverflow(now)
        guard !overflow else { return .max }
        return Int32(clamping: rest / 1_000_000 + (rest % 1_000_000 == 0 ? 0 : 1))
    }
}
