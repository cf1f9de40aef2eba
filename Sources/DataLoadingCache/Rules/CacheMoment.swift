// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
import Foundation

/// What both clocks of a process say at one moment.
///
/// Ages count on the monotonic clock. The wall clock compares a response with its `Date`, and gives
/// the age of a response that an earlier process has stored.
package struct CacheMoment: Hashable, Sendable {
    /// The milliseconds since 1970.
    package var wall: Int64
    package var monotonic: Instant

    package init(wall: Int64, monotonic: Instant) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// The whole seconds since 1970, as HTTP dates count them.
    package var seconds: Int64 { wall.flooredQuotient(by: 1_000) }
}

extension CacheMoment {
    package init(of timekeeper: any Timekeeper) {
        let milliseconds = (timekeeper.date.timeIntervalSince1970 * 1_000).rounded(.down)
        self.init(wall: Int64(saturating: milliseconds), monotonic: timekeeper.now)
    }
}

extension Int64 {
    /// The number that is nearest to a floating-point value; zero for not-a-number.
    init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 0x1p63 {
            self = .max
        } else if value < -0x1p63 {
            self = .min
        } else {
            self = Int64(value)
        }
    }

    /// The quotient rounded towards negative infinity; the divisor is positive.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
