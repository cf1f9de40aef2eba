// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

// Every combination of six server behaviours at four addresses, compared with a model.
@Suite struct AddressModelPropertyTests {
    /// How the server at an address behaves throughout a script.
    private enum Behaviour: CaseIterable {
        case works, refuses, blackHole, unavailable, stalls, flaps

        func outcome(_ generator: inout SeededGenerator) -> AddressOutcome {
            switch self {
            case .works: .success
            case .refuses, .blackHole: .unreachable
            case .unavailable, .stalls: .unavailable
            case .flaps:
                [.success, .unreachable, .neutral].randomElement(using: &generator) ?? .neutral
            }
        }
    }

    /// The expected state of one address.
    private struct Expected {
        var troubles = 0
        var ejections = 0
        var until = Duration.zero

        mutating func note(_ outcome: AddressOutcome, at now: Duration) {
            switch outcome {
            case .success: self = Expected()
            case .neutral: break
            case .nothingWritten: eject(at: now)
            case .serverTrouble:
                troubles += 1
                if troubles == 5 || ejections > 0 { eject(at: now) }
            }
        }

        private mutating func eject(at now: Duration) {
            guard now >= until else { return }
            ejections += 1
            troubles = 0
            until = now + .seconds(min(300, 30 << min(ejections - 1, 5)))
        }

        func isOut(at now: Duration) -> Bool { now < until }
    }

    /// Always draws the longest ejection, so that the model needs no randomness.
    private struct Longest: RandomNumberGenerator, Sendable {
        mutating func next() -> UInt64 { .max }
    }

    private static let host = "a.test"
    private static let names = ["10.0.0.1", "10.0.0.2", "10.0.0.3", host]

    @Test func `the resolver finds every working address and avoids ejected ones`() {
        var script = 0
        property(cases: 1_296) { generator in
            var code = script
            script += 1
            var servers: [String: Behaviour] = [:]
            for name in Self.names {
                servers[name] = Behaviour.allCases[code % 6]
                code /= 6
            }
            return Self.play(servers, &generator).map { "\(servers): \($0)" }
        }
    }

    private static func play(
        _ servers: [String: Behaviour], _ generator: inout SeededGenerator
    ) -> String? {
        let clock = ManualClock()
        let resolver = HostResolver()
        resolver.adopt(clock.timekeeper, random: RandomSource(Longest()))
        resolver.setAddresses(Array(names.dropLast()), forHost: host)
        var expected: [String: Expected] = [:]
        for _ in 0..<24 {
            var tried: Set<String> = []
            var isServed = false
            while !isServed, let candidate = resolver.choose(forHost: host, excluding: tried) {
                let name = candidate.exclusion(forHost: host)
                guard !tried.contains(name) else { return "\(name) was excluded" }
                let others = names.filter { $0 != name && !tried.contains($0) }
                let now = clock.elapsed
                if expected[name, default: Expected()].isOut(at: now),
                    let better = others.first(where: {
                        !expected[$0, default: Expected()].isOut(at: now)
                    })
                {
                    return "\(name) was used while it was out and \(better) was not"
                }
                let outcome = servers[name]?.outcome(&generator) ?? .neutral
                resolver.report(candidate, forHost: host, outcome: outcome)
                expected[name, default: Expected()].note(outcome, at: now)
                isServed = outcome == .success
                tried.insert(name)
            }
            guard isServed || tried.count == names.count else { return "gave up after \(tried)" }
            let works = servers.values.contains(.works)
            guard isServed || !works else { return "an address that works was not found" }
            let pause = Int64.random(in: 0...40_000, using: &generator)
            clock.advance(by: .milliseconds(pause))
        }
        return nil
    }
}
