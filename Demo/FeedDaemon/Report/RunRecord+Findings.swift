// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension RunRecord {
    /// The findings that were made so far.
    var found: [Finding] { Finding.allCases.filter { evidence(for: $0) != nil } }

    /// The text of a finding, nil when it was not made.
    func evidence(for finding: Finding) -> String? {
        switch finding {
        case .rateKept: rates
        case .gateHeld: gates
        case .failover: failover
        case .resumed: resumption
        case .backAgain: homecoming
        case .tokenRenewed: renewal
        case .chunks: all.chunks == 0 ? nil : "\(all.chunks) pieces were delivered on arrival"
        case .dropped: closing
        }
    }

    /// Why loads failed; nil when none did.
    var failures: String? {
        let failures = names.flatMap { name in
            counts(of: name).failures.sorted { $0.key < $1.key }.map {
                "\(name) \($0.key) (\($0.value))"
            }
        }
        return failures.isEmpty ? nil : failures.joined(separator: ", ")
    }

    /// What each feature sent and may send per second.
    func measuredRates(over time: Duration) -> String? {
        let rates = names.compactMap { name in
            limits[name].map { limit in
                // The first request is sent at once, and the rate spaces the others out.
                let spaced = Double(max(0, counts(of: name).attempts - 1))
                let rate = spaced / max(time.seconds, 0.001)
                return "\(name) \(rate.figure) of \(limit.figure)"
            }
        }
        return rates.isEmpty ? nil : rates.joined(separator: ", ") + " requests per second"
    }

    private var gates: String? {
        let gates = held.sorted { $0.key < $1.key }.map { name, gate in
            "\(name) for \(gate.length.text)"
                + (gate.times == 1 ? "" : " in all, \(gate.times) times")
        }
        return gates.isEmpty ? nil : gates.joined(separator: ", ") + ", by Retry-After"
    }

    private var renewal: String? {
        guard renewedTokens > 0, all.reauthorised > 0 else { return nil }
        return "loads refused: \(all.reauthorised), tokens fetched for them: \(renewedTokens)"
    }
}
