// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingSupport
import Testing

/// When a delegate's calls are too slow for the transport's thread.
@Suite struct CallPaceTests {
    private let start = Instant(nanoseconds: 0)

    /// Returns after how many calls of a length, in µs, they are slow; nil when they are not.
    private func count(_ pace: inout CallPace, _ time: Int64, atMost most: Int = 1_000) -> Int? {
        (1...most).first { _ in
            pace.note(time * 1_000, at: start)
            return pace.slowUntil != nil
        }
    }

    @Test func `short calls stay where they are, however many`() {
        var pace = CallPace()
        #expect(count(&pace, 40) == nil)
    }

    @Test func `calls that are slow on average are found within a few`() {
        var pace = CallPace()
        #expect(count(&pace, 80) == 6)
        #expect(count(&pace, 200) == 2)
    }

    @Test func `one long call is forgiven, two in a row are not`() {
        var pace = CallPace()
        for _ in 0..<10 {
            pace.note(3_000_000_000, at: start)
            #expect(pace.slowUntil == nil)
            #expect(count(&pace, 1, atMost: 30) == nil)
        }
        #expect(count(&pace, 3_000_000) == 2)
    }

    @Test func `calls that are slow again and again are tried less and less often`() {
        var pace = CallPace()
        for penalty in [100, 400, 1_600, 6_400, 10_000, 10_000] {
            #expect(count(&pace, 1_000) == 2)
            #expect(pace.slowUntil == start + .milliseconds(penalty))
        }
        // Short calls show that the time was an exception, once there are enough of them.
        #expect(count(&pace, 1, atMost: 254) == nil)
        #expect(count(&pace, 1_000) == 2)
        #expect(pace.slowUntil == start + .seconds(10))
        #expect(count(&pace, 1, atMost: 256) == nil)
        #expect(count(&pace, 1_000) == 2)
        #expect(pace.slowUntil == start + .milliseconds(100))
    }

    @Test func `no time of a clock can overflow the average`() {
        var pace = CallPace()
        for time in [Int64.max, .min, .max, .max, .min] { pace.note(time, at: .distantFuture) }
    }
}
