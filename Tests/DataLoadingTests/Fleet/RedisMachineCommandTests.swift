// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingFleet
import DataLoadingSupport
import DataLoadingTesting
import Testing

/// The commands of a client, without a socket and without a clock.
@Suite struct RedisMachineCommandTests {
    @Test func `a script that the server does not know is sent whole, once`() {
        var machine = MachineScene.ready()
        _ = machine.submit(MachineScene.command(1, fallback: "whole"), now: MachineScene.start)
        _ = machine.submit(MachineScene.command(2), now: MachineScene.start)
        _ = machine.takeOutgoing()
        #expect(machine.receive(MachineScene.error("NOSCRIPT x"), now: MachineScene.start).isEmpty)
        #expect(MachineScene.text(machine.takeOutgoing()) == "*1\r\n$5\r\nwhole\r\n")
        #expect(
            MachineScene.results(machine.receive(.number(2), now: MachineScene.start)) == [
                "2: number(2)"
            ])
        let endings = machine.receive(MachineScene.error("NOSCRIPT x"), now: MachineScene.start)
        #expect(MachineScene.results(endings) == ["1: the server refused the command: NOSCRIPT"])
        #expect(machine.takeOutgoing().isEmpty)
    }

    @Test func `a hundred commands and more are outstanding, more wait, and the next is refused`() {
        let most = RedisMachine.maxOutstanding
        #expect(most > 100)
        var machine = MachineScene.ready()
        for id in 1...most + 20
        where machine.submit(MachineScene.command(id), now: MachineScene.start) != nil {
            Issue.record("\(id) was refused")
        }
        let refused = machine.submit(MachineScene.command(most + 21), now: MachineScene.start)
        #expect(
            refused.map { MachineScene.results([$0]) } == ["\(most + 21): too many commands wait"])
        let sent = (1...most).map { "c\($0);" }.joined()
        #expect(MachineScene.text(machine.takeOutgoing()) == sent)
        #expect(
            MachineScene.results(machine.receive(.number(1), now: MachineScene.start)) == [
                "1: number(1)"
            ])
        #expect(MachineScene.text(machine.takeOutgoing()) == "c\(most + 1);")
        let large = RedisMachine.Waiting(
            id: 999, bytes: [UInt8](repeating: 0, count: RedisCommand.maxSize + 1), fallback: nil)
        let tooLarge = machine.submit(large, now: MachineScene.start)
        #expect(tooLarge.map { MachineScene.results([$0]) } == ["999: the command is too large"])
    }

    @Test func `a sent command that is not answered in time takes its connection with it`() {
        var machine = MachineScene.ready()
        for id in 1...2 { _ = machine.submit(MachineScene.command(id), now: MachineScene.start) }
        let endings = MachineScene.results(machine.expire(1, now: MachineScene.start + ms(250)))
        #expect(
            endings == [
                "1: the server did not answer in time",
                "2: the connection ended: the server does not answer",
            ])
        #expect(!machine.isServing)
        #expect(machine.expire(2, now: MachineScene.start + ms(250)).isEmpty)
    }

    @Test func `a command that was sent late ends in time, and its server has time left`() {
        let start = MachineScene.start
        for isAnswered in [true, false] {
            var machine = MachineScene.ready()
            // One more than may be outstanding, so that the last waits for a reply.
            let last = RedisMachine.maxOutstanding + 1
            for id in 1...last { _ = machine.submit(MachineScene.command(id), now: start) }
            for id in 1..<last {
                let endings = machine.receive(.number(1), now: start + ms(200))
                #expect(MachineScene.results(endings) == ["\(id): number(1)"])
            }
            let endings = MachineScene.results(machine.expire(last, now: start + ms(250)))
            #expect(endings == ["\(last): the server did not answer in time"])
            #expect(machine.isServing)
            let limit = start + ms(450)
            #expect(
                MachineScene.job(&machine, start + ms(251)) == .serve(until: limit))
            _ = machine.submit(MachineScene.command(last + 1), now: start + ms(300))
            if isAnswered {
                _ = machine.receive(.number(1), now: start + ms(400))
                #expect(MachineScene.job(&machine, limit) == .serve(until: nil))
                #expect(machine.isServing)
            } else {
                let (_, lost) = machine.job(now: limit)
                #expect(
                    MachineScene.results(lost) == [
                        "\(last + 1): the connection ended: the server does not answer"
                    ])
                #expect(!machine.isServing)
            }
        }
    }

    @Test func `a server that answers one of two late commands, and then nothing, is noticed`() {
        let start = MachineScene.start
        let most = RedisMachine.maxOutstanding
        var machine = MachineScene.ready()
        for id in 1...most + 2 { _ = machine.submit(MachineScene.command(id), now: start) }
        for _ in 1...most { _ = machine.receive(.number(1), now: start + ms(200)) }
        for id in most + 1...most + 2 {
            let endings = MachineScene.results(machine.expire(id, now: start + ms(250)))
            #expect(endings == ["\(id): the server did not answer in time"])
        }
        #expect(machine.receive(.number(1), now: start + ms(300)).isEmpty)
        let limit = start + ms(550)
        #expect(MachineScene.job(&machine, start + ms(301)) == .serve(until: limit))
        #expect(machine.isServing)
        let (_, endings) = machine.job(now: limit)
        #expect(endings.isEmpty && !machine.isServing)
    }

    @Test func `a command that waits for a connection ends with what became of the last one`() {
        var machine = MachineScene.machine()
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        _ = machine.lose(.closed, now: MachineScene.start)
        let endings = MachineScene.results(machine.expire(1, now: MachineScene.start + ms(250)))
        #expect(
            endings == ["1: the command was not sent in time: the server closed the connection"])
    }

    @Test func `a cancelled command is not sent, and the reply of a sent one is dropped`() {
        let most = RedisMachine.maxOutstanding
        var machine = MachineScene.ready()
        for id in 1...most + 2 {
            _ = machine.submit(MachineScene.command(id), now: MachineScene.start)
        }
        #expect(machine.cancel(most + 1) && machine.cancel(1))
        #expect(!machine.cancel(1) && !machine.cancel(999))
        _ = machine.takeOutgoing()
        #expect(machine.receive(.number(1), now: MachineScene.start).isEmpty)
        #expect(MachineScene.text(machine.takeOutgoing()) == "c\(most + 2);")
        #expect(
            MachineScene.results(machine.receive(.number(2), now: MachineScene.start)) == [
                "2: number(2)"
            ])
    }

    @Test func `a cancelled command that is never answered still takes its connection with it`() {
        var machine = MachineScene.ready()
        _ = machine.submit(MachineScene.command(1), now: MachineScene.start)
        _ = machine.submit(MachineScene.command(2), now: MachineScene.start)
        let isCancelled = machine.cancel(1)
        #expect(isCancelled)
        let endings = MachineScene.results(machine.expire(1, now: MachineScene.start + ms(250)))
        #expect(endings == ["2: the connection ended: the server does not answer"])
    }

    @Test func `a shut down ends every command, and nothing is taken after it`() {
        var machine = MachineScene.ready()
        for id in 1...20 { _ = machine.submit(MachineScene.command(id), now: MachineScene.start) }
        let isCancelled = machine.cancel(3)
        #expect(isCancelled)
        let endings = MachineScene.results(machine.shutDown())
        #expect(endings == (1...20).filter { $0 != 3 }.map { "\($0): the client was shut down" })
        #expect(MachineScene.job(&machine, MachineScene.start) == .end)
        #expect(machine.submit(MachineScene.command(21), now: MachineScene.start) != nil)
        #expect(
            machine.shutDown().isEmpty && machine.lose(.closed, now: MachineScene.start).isEmpty)
        machine.connected(user: nil, password: nil, name: "n", now: MachineScene.start)
        #expect(MachineScene.job(&machine, MachineScene.start) == .end)
    }

    /// Random events in any order.
    @Test func `every command ends exactly once, whatever happens`() {
        property { generator in
            var machine = MachineScene.machine(endpoints: Int.random(in: 1...3, using: &generator))
            var now = MachineScene.start
            var open: Set<Int> = []
            var last = 0
            func end(_ endings: [RedisMachine.Ending]) -> Bool {
                endings.allSatisfy { open.remove($0.id) != nil }
            }
            for _ in 0..<60 {
                now = now + ms(Int64.random(in: 0...120, using: &generator))
                var endings: [RedisMachine.Ending] = []
                switch Int.random(in: 0..<12, using: &generator) {
                case 0..<4:
                    last += 1
                    open.insert(last)
                    let command = MachineScene.command(last, fallback: last % 2 == 0 ? "w" : nil)
                    endings = machine.submit(command, now: now).map { [$0] } ?? []
                case 4: machine.connected(user: nil, password: nil, name: "n", now: now)
                case 5: endings = machine.receive(.map([]), now: now)
                case 6: endings = machine.receive(MachineScene.master, now: now)
                case 7: endings = machine.receive(MachineScene.error("NOSCRIPT x"), now: now)
                case 8: endings = machine.job(now: now).1
                case 9:
                    endings = machine.expire(Int.random(in: 0...last, using: &generator), now: now)
                case 10: endings = machine.lose(.closed, now: now)
                default:
                    let id = Int.random(in: 0...last, using: &generator)
                    if machine.cancel(id), open.remove(id) == nil {
                        return "\(id) was cancelled twice"
                    }
                }
                guard end(endings) else {
                    return "an ending of none: \(MachineScene.results(endings))"
                }
                guard machine.sent.count <= RedisMachine.maxOutstanding + 2 else {
                    return "too many"
                }
            }
            guard end(machine.shutDown()), open.isEmpty else { return "left: \(open)" }
            return nil
        }
    }
}
