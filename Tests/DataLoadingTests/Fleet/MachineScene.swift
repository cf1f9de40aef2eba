// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// A machine of a client, and its endings and jobs in words.
enum MachineScene {
    static let start = Instant(nanoseconds: 1_000_000_000)

    static func machine(endpoints: Int = 1, maxWaiting: Int = 20) -> RedisMachine {
        RedisMachine(
            endpointCount: endpoints, maxWaiting: maxWaiting, patience: ms(250),
            randomness: RandomSource(SeededGenerator(seed: 1)))
    }

    static func command(_ id: Int, fallback: String? = nil) -> RedisMachine.Waiting {
        .init(id: id, bytes: Array("c\(id);".utf8), fallback: fallback.map { RedisCommand($0) })
    }

    static func error(_ text: String) -> RESPValue { .error(RESPError(text: text)) }
    static let master = RESPValue.array([.simple("master"), .number(0), .array([])])

    /// A machine whose connection is greeted.
    static func ready(endpoints: Int = 1) -> RedisMachine {
        var machine = machine(endpoints: endpoints)
        _ = machine.submit(command(0), now: start)
        machine.connected(user: nil, password: nil, name: "n", now: start)
        _ = machine.takeOutgoing()
        _ = machine.receive(.map([]), now: start)
        _ = machine.receive(master, now: start)
        #expect(text(machine.takeOutgoing()) == "c0;")
        #expect(results(machine.receive(.number(0), now: start)) == ["0: number(0)"])
        return machine
    }

    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    static func results(_ endings: [RedisMachine.Ending]) -> [String] {
        endings.map { ending in
            switch ending.result {
            case .success(let value): "\(ending.id): \(value)"
            case .failure(let error): "\(ending.id): \(error)"
            }
        }
    }

    static func job(_ machine: inout RedisMachine, _ now: Instant) -> RedisMachine.Job {
        machine.job(now: now).0
    }
}
