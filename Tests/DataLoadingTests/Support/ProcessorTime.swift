// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The processor time of the calling thread, which other work on the machine does not increase.
func processorTime(of body: () throws -> Void) rethrows -> Duration {
    let begun = processorTimeOfThread
    try body()
    return processorTimeOfThread - begun
}

private var processorTimeOfThread: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}
