// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// What a probe is told, as words of the form "name=value".
struct Settings {
    private let values: [Substring: Substring]

    init(_ words: some Sequence<String>) {
        let pairs = words.compactMap { word -> (Substring, Substring)? in
            guard let sign = word.firstIndex(of: "=") else { return nil }
            return (word[..<sign], word[word.index(after: sign)...])
        }
        values = Dictionary(pairs) { _, last in last }
    }

    /// The endpoint of the server, or several; nil for a probe that shares with no other.
    var server: String? { values["server"].map(String.init) }
    /// The user of the server, whose password is "secret"; nil for the one that is there.
    var user: String? { values["user"].map(String.init) }
    /// The rate of all daemons together.
    var rate: Double { number("rate", 100) }
    /// The burst of the rate.
    var burst: Int { Int(number("burst", 1)) }
    /// How long loads are made, in seconds.
    var seconds: Double { number("seconds", 10) }
    /// The number of daemons.
    var members: Int { Int(number("members", 8)) }
    /// The loads that this daemon makes in a second; zero for as many as it may.
    var demand: Double { number("demand", 0) }
    /// How many loads wait at once where there are as many as may be.
    var width: Int { Int(number("width", 64)) }
    /// The seconds after which a load gives up.
    var patience: Double { number("patience", 60) }
    /// The load of this daemon that is answered with 429 and `Retry-After: 2`; zero for none.
    var refused: Int { Int(number("refused", 0)) }
    /// What a daemon does that has lost its server: "share=30" for 30 s, "share=0" for a pause.
    var loss: LossPolicy {
        switch number("share", -1) {
        case 0: .pause
        case let seconds where seconds > 0: .share(for: .seconds(seconds))
        default: .share(for: nil)
        }
    }

    /// Whether daemons share a login, and no rate.
    var sharesLogin: Bool { values["scene"] == "credentials" }
    /// Where those that share a login load from, and get their tokens.
    var origin: URL? { values["origin"].flatMap { URL(string: String($0)) } }
    /// The first refresh token, for the process that stores it and ends.
    var seed: String? { values["seed"].map(String.init) }
    /// The number of this daemon.
    var place: Int { Int(number("place", 0)) }

    private func number(_ name: Substring, _ standard: Double) -> Double {
        values[name].flatMap { Double($0) } ?? standard
    }
}
