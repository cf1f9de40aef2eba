// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

// The samples of signals in the article about shutting down.

/// SIGTERM and SIGINT, or others, as a sequence; they are received as long as this object is kept.
final class Signals {
    let numbers: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init(_ wanted: [Int32] = [SIGTERM, SIGINT]) {
        let (numbers, continuation) = AsyncStream<Int32>.makeStream()
        self.numbers = numbers
        sources = wanted.map { number in
            signal(number, SIG_IGN)  // The default action would kill the process.
            let source = DispatchSource.makeSignalSource(signal: number)
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { @Sendable in isRegistered.signal() }
            source.setEventHandler { @Sendable in continuation.yield(number) }
            source.activate()
            isRegistered.wait()  // A signal that came earlier would be lost.
            return source
        }
    }
}

/// Compiled but not run, because SIGTERM belongs to the whole process.
func runUntilSignal(_ service: DataLoaderService) async {
    let signals = Signals()
    for await number in signals.numbers {
        print("signal", number)
        break
    }
    await service.shutDown(gracePeriod: .seconds(5))
    withExtendedLifetime(signals) {}
}

/// The main actor is where a closure that dispatch calls elsewhere would stop the process.
@MainActor @Suite struct ShutDownSamples {
    @Test func `the sample of signals receives one that comes as soon as it is made`() async {
        let signals = Signals([SIGVTALRM])
        kill(getpid(), SIGVTALRM)
        for await number in signals.numbers {
            #expect(number == SIGVTALRM)
            break
        }
        withExtendedLifetime(signals) {}
    }

    @Test func `a load is refused as soon as a shut-down has begun`() async {
        let bed = TestBed()
        let service = bed.service
        let load = Task { try await bed.loader.response(for: .make("/held")) }
        _ = await bed.attempt(0)
        let shutDown = Task { await service.shutDown(gracePeriod: .seconds(5)) }
        await bed.clock.waitForAlarms(1, within: .seconds(5))
        await #expect(throws: DataLoaderError.serviceInvalidated) {
            try await bed.loader.response(for: .make("/late"))
        }
        bed.clock.advance(by: .seconds(5))
        await #expect(throws: DataLoaderError.cancelled) { try await load.value }
        _ = await shutDown.value
    }
}
