// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// Members with their values in one call; a value that is nil leaves the member out.
extension JSONWriter {
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    mutating func member(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    mutating func member(_ name: StaticString, _ number: Int?) {
        member(name, number.map { Int64($0) })
    }

    mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    mutating func member(_ name: StaticString, _ isTrue: Bool?) {
        guard let isTrue else { return }
        key(name)
        value(isTrue)
    }

    /// A duration in seconds, with its microseconds.
    mutating func member(_ name: StaticString, seconds duration: Duration?) {
        guard let duration else { return }
        key(name)
        value(Double(duration.wholeNanoseconds / 1_000) / 1e6)
    }
}
