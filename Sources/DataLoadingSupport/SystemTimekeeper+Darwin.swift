// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin

    extension SystemTimekeeper {
        /// The time since the machine started, including sleep.
        package var now: Instant {
            Instant(nanoseconds: Int64(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)))
        }
    }
#endif
