// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
import Foundation
import Testing

#if os(Linux)
    @Suite(.timeLimit(.minutes(30))) struct ServiceManagerTests {
        private static let abstractName = "@dataloading-\(UUID().uuidString)"

        @Test(arguments: [true, false])
        func `systemd is told of start, reload and end, by path and by abstract name`(
            isAbstract: Bool
        ) async throws {
            let directory = TemporaryDirectory()
            let address = isAbstract ? Self.abstractName : directory.url("notify").path
            let listener = try #require(NotifyListener(address))
            let manager = ServiceManager(environment: listener.environment)
            #expect(manager.isPresent)
            #expect(
                ServiceMessage.status(String(repeating: "\u{e9}", count: 5_000)).text.utf8.count
                    < 2_100)
            let before = ServiceMessage.monotonicMicroseconds
            manager.status("opening the feed")
            manager.ready()
            manager.reloading()
            manager.ready()
            manager.stopping()
            manager.extendTimeout(by: .seconds(90))
            let messages = await listener.first(6)
            let after = ServiceMessage.monotonicMicroseconds
            #expect(messages[0] == "STATUS=opening the feed")
            #expect(messages[1] == "READY=1")
            let reload = messages[2].split(separator: "=")
            #expect(reload.dropLast() == ["RELOADING", "1\nMONOTONIC_USEC"])
            let time = try #require(reload.last.flatMap { Int64($0) })
            #expect((before...after).contains(time))
            #expect(messages[3...] == ["READY=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=90000000"])
            #expect(manager.failures == 0)
        }

        // Dispatch reads the same clock, by its own way.
        @Test func `the time of a reload is that of the monotonic clock`() {
            let now = DispatchTime.now().uptimeNanoseconds / 1_000
            let difference = ServiceMessage.monotonicMicroseconds - Int64(now)
            #expect((0...60_000_000).contains(difference))
        }

        @Test func `systemd is told nothing that does not fit the stage of the service`() throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let manager = ServiceManager(environment: listener.environment)
            manager.reloading()
            manager.ready()
            manager.ready()
            manager.stopping()
            manager.stopping()
            manager.ready()
            manager.reloading()
            #expect(listener.rest() == ["READY=1", "STOPPING=1"])
        }

        @Test func `a status is one line, whatever is in it`() throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let manager = ServiceManager(environment: listener.environment)
            manager.status("1 host\nMAINPID=1\r\0é")
            manager.extendTimeout(by: .seconds(-1))
            manager.extendTimeout(by: .seconds(Int64.max))
            #expect(
                listener.rest() == [
                    "STATUS=1 host MAINPID=1  é", "EXTEND_TIMEOUT_USEC=0",
                    "EXTEND_TIMEOUT_USEC=\(Int64.max / 1_000)",
                ])
        }

        @Test(
            arguments: [
                nil, "", "/", "@", "relative", "vsock:2:1", "/a\0b",
                "/" + String(repeating: "x", count: 107), "@" + String(repeating: "x", count: 108),
            ] as [String?])
        func `without a socket that systemd names, nothing is sent and nothing fails`(
            address: String?
        ) {
            let manager = ServiceManager(
                environment: ["NOTIFY_SOCKET": address].compactMapValues { $0 })
            #expect(!manager.isPresent)
            manager.ready()
            #expect(manager.failures == 0)
        }

        @Test func `the longest names of a socket are used`() throws {
            let directory = TemporaryDirectory()
            let path = directory.url("").path + "/"
            let longest = path + String(repeating: "x", count: max(1, 107 - path.utf8.count))
            let name = Self.abstractName
            let abstract = name + String(repeating: "y", count: 108 - name.utf8.count)
            for address in [longest, abstract] {
                let listener = try #require(NotifyListener(address))
                ServiceManager(environment: listener.environment).ready()
                #expect(listener.rest() == ["READY=1"])
            }
        }

        @Test func `a systemd that does not read is never waited for`() throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let manager = ServiceManager(environment: listener.environment)
            for number in 0..<5_000 { manager.status("\(number)") }
            let taken = listener.rest()
            #expect(manager.failures > 0)
            #expect(taken.count + manager.failures == 5_000)
            #expect(taken == taken.indices.map { "STATUS=\($0)" })
        }

        @Test func `that a service is ready arrives although systemd is busy`() async throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let manager = ServiceManager(environment: listener.environment)
            // Until the buffer of the socket is full.
            var sent = 0
            while manager.failures == 0 {
                manager.status("\(sent)")
                sent += 1
            }
            async let received = listener.first(sent)
            let told = Task.detached { manager.ready() }
            let messages = await received
            await told.value
            #expect(messages.last == "READY=1")
            #expect(manager.failures == 1)
        }

        @Test func `what must arrive is sent three times to a systemd that stays busy`() throws {
            let directory = TemporaryDirectory()
            let listener = try #require(NotifyListener(directory.url("notify").path))
            let patience = Duration.milliseconds(100)
            let manager = ServiceManager(environment: listener.environment, patience: patience)
            // Until the buffer of the socket is full.
            while manager.failures == 0 { manager.status("more") }
            let took = ContinuousClock().measure { manager.ready() }
            #expect(took >= patience * 2.5)
            #expect(manager.failures == 2)
            #expect(!listener.rest().contains("READY=1"))
            // It is not tried again behind what is newer.
            manager.stopping()
            #expect(listener.rest() == ["STOPPING=1"])
        }

        @Test func `a systemd that is gone is counted`() {
            let directory = TemporaryDirectory()
            let environment = ["NOTIFY_SOCKET": directory.url("none").path]
            let manager = ServiceManager(environment: environment)
            manager.ready()
            manager.stopping()
            #expect(manager.failures == 2)
        }

        @Test func `the end of a service is the last of its stages, whichever threads tell them`()
            async throws
        {
            let directory = TemporaryDirectory()
            for round in 0..<200 {
                let listener = try #require(NotifyListener(directory.url("\(round)").path))
                let manager = ServiceManager(environment: listener.environment)
                DispatchQueue.concurrentPerform(iterations: 3) { thread in
                    if thread == 0 { return manager.stopping() }
                    manager.ready()
                    manager.reloading()
                }
                let messages = listener.rest()
                #expect(messages.last == "STOPPING=1")
                #expect(messages.filter { $0 == "STOPPING=1" }.count == 1)
            }
        }
    }
#endif
