// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A line about something that happened.
struct Note: Hashable, Sendable {
    let time: Duration
    let who: String
    let what: String

    var text: String {
        time.text(decimals: 1).padded(to: 7, alignment: .right) + "  "
            + who.padded(to: 12, alignment: .left) + "  " + what
    }
}
