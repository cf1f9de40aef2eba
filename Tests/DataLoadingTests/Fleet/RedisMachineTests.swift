// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// The connection of a client, without a socket and without a clock.
@Suite struct RedisMachineTests {
    @Test func `nothing is done before the first command`() {
        var machine = MachineScene.machine()
        #expect(MachineScene.job(&machine, MachineScene.start) == .rest)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        #expect(MachineScene.job(&machine, MachineScene.start) == .connect(0))
    }

    @Test func `a connection is greeted with the password and asked for its role`() {
        var machine = MachineScene.machine()
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        machine.connected(user: "u", password: "p", name: "n", now: MachineScene.start)
        let greeting = RedisCommand("HELLO", "3", "AUTH", "u", "p", "SETNAME", "n").encoded
        #expect(machine.takeOutgoing() == greeting + RedisCommand("ROLE").encoded)
        #expect(
            MachineScene.job(&machine, MachineScene.start)
                == .serve(until: MachineScene.start + ms(250)))
        #expect(machine.receive(.map([]), now: MachineScene.start).isEmpty)
        #expect(machine.takeOutgoing().isEmpty)
        #expect(machine.receive(MachineScene.master, now: MachineScene.start).isEmpty)
        #expect(MachineScene.text(machine.takeOutgoing()) == "c1;")
        #expect(MachineScene.job(&machine, MachineScene.start) == .serve(until: nil))
    }

    @Test func `a greeting that is not answered ends the connection`() {
        var machine = MachineScene.machine(endpoints: 2)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        machine.connected(user: nil, password: nil, name: "n", now: MachineScene.start)
        #expect(
            MachineScene.job(&machine, MachineScene.start + ms(249))
                == .serve(until: MachineScene.start + ms(250)))
        #expect(MachineScene.job(&machine, MachineScene.start + ms(250)) == .connect(1))
        #expect(machine.lastFailure == .silent)
    }

    @Test(
        arguments: [
            (["-WRONGPASS no"], RedisFailure.refused(RESPError(text: "WRONGPASS no"))),
            (["-LOADING wait"], .elsewhere(RESPError(text: "LOADING wait"))),
            (["+", "-NOPERM role"], .refused(RESPError(text: "NOPERM role"))),
            (["+", "slave"], .notMaster(role: "slave")),
            (["+", "sentinel"], .notMaster(role: "sentinel")),
        ] as [([String], RedisFailure)])
    func `a server that refuses the greeting or is no master is left for the next`(
        _ replies: [String], _ failure: RedisFailure
    ) {
        var machine = MachineScene.machine(endpoints: 2)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        machine.connected(user: nil, password: nil, name: "n", now: MachineScene.start)
        for reply in replies {
            let value: RESPValue =
                switch reply.first {
                case "-": MachineScene.error(String(reply.dropFirst()))
                case "+": .map([])
                default: .array([.bulk(Array(reply.utf8))])
                }
            #expect(machine.receive(value, now: MachineScene.start).isEmpty)
        }
        #expect(machine.lastFailure == failure)
        #expect(MachineScene.job(&machine, MachineScene.start) == .connect(1))
    }

    @Test(arguments: [
        "READONLY x", "LOADING x", "MASTERDOWN x", "CLUSTERDOWN x", "MOVED 1 h:1",
        "ERR Error running script: @user_script: 1: -READONLY You can't write",
    ]) func `an error that sends elsewhere leads to the next endpoint`(_ text: String) {
        var machine = MachineScene.ready(endpoints: 2)
        for id in 1...3 { _ = machine.submit(MachineScene.command(id), now: MachineScene.start) }
        let error = RESPError(text: text)
        let endings = MachineScene.results(machine.receive(.error(error), now: MachineScene.start))
        #expect(
            endings == [
                "1: \(RedisError.refused(error))", "2: \(RedisError.lost(.elsewhere(error)))",
                "3: \(RedisError.lost(.elsewhere(error)))",
            ])
        #expect(MachineScene.job(&machine, MachineScene.start) == .connect(1))
        // What comes on the old connection is not taken.
        #expect(machine.receive(.number(1), now: MachineScene.start).isEmpty)
        #expect(MachineScene.job(&machine, MachineScene.start) == .connect(1))
    }

    @Test func `any other error ends its command only`() {
        var machine = MachineScene.ready()
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        let endings = machine.receive(MachineScene.error("NOPERM x"), now: MachineScene.start)
        #expect(MachineScene.results(endings) == ["1: the server refused the command: NOPERM"])
        #expect(MachineScene.job(&machine, MachineScene.start) == .serve(until: nil))
    }

    @Test func `a reply that no command waits for ends the connection`() {
        var machine = MachineScene.ready()
        _ = machine.receive(.simple("OK"), now: MachineScene.start)
        #expect(machine.lastFailure == .malformed(.unexpectedReply))
        #expect(!machine.isServing)
    }

    @Test func `connections are tried in turn, with a longer pause after each round`() {
        var machine = MachineScene.machine(endpoints: 3)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        var now = MachineScene.start
        var limits: [Duration] = []
        for round in 0..<8 {
            for endpoint in 0..<3 {
                #expect(MachineScene.job(&machine, now) == .connect(endpoint))
                _ = machine.lose(.closed, now: now)
            }
            guard case .pause(let end) = MachineScene.job(&machine, now) else {
                Issue.record("no pause in round \(round)")
                return
            }
            let limit = min(ms(1_000), ms(100) * (1 << round))
            #expect(end - now >= .zero && end - now <= limit)
            limits.append(end - now)
            now = end
        }
        #expect(Set(limits).count == limits.count)
    }

    @Test func `a pause begins anew once a command was answered`() {
        var machine = MachineScene.ready()
        for _ in 0..<10 {
            _ = machine.lose(.closed, now: MachineScene.start)
            _ = machine.job(now: MachineScene.start + .seconds(2))
        }
        machine.connected(user: nil, password: nil, name: "n", now: MachineScene.start)
        _ = machine.receive(.map([]), now: MachineScene.start)
        _ = machine.receive(MachineScene.master, now: MachineScene.start)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        _ = machine.receive(.number(1), now: MachineScene.start)
        _ = machine.lose(.closed, now: MachineScene.start)
        #expect(MachineScene.job(&machine, MachineScene.start + ms(100)) == .connect(0))
    }

    @Test func `a lost connection is not made anew when nobody has used it for a while`() {
        var machine = MachineScene.ready()
        _ = machine.lose(.closed, now: MachineScene.start + .seconds(29))
        var other = machine
        #expect(
            MachineScene.job(&other, MachineScene.start + .seconds(29) + ms(100)) == .connect(0))
        #expect(MachineScene.job(&machine, MachineScene.start + .seconds(31)) == .rest)
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start + .seconds(40))
        #expect(MachineScene.job(&machine, MachineScene.start + .seconds(40)) == .connect(0))
    }

    @Test func `a client without endpoints refuses every command`() {
        var machine = MachineScene.machine(endpoints: 0)
        let ending = machine.submit(MachineScene.command(1), now: MachineScene.start)
        #expect(
            ending.map { MachineScene.results([$0]) } == [
                "1: the command was not sent in time: there is no endpoint"
            ])
    }
}
