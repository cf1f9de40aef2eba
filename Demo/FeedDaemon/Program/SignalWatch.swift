// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Ends the daemon in order at the first SIGINT or SIGTERM; a second one kills the process.
///
/// `DataLoaderService.run(untilSignals:gracePeriod:onStart:)` does it for a daemon that has nothing
/// to do between the signal and the shut-down. This one logs out first.
final class SignalWatch {
    private let sources: [any DispatchSourceSignal]

    /// Begins to watch; on SIGHUP, if it is wanted, the daemon reads its file again.
    init(_ stream: EventStream, reloadsOnHangup: Bool) {
        let ends: [(Int32, Event)] = [
            (SIGINT, .stop(reason: "SIGINT")), (SIGTERM, .stop(reason: "SIGTERM")),
        ]
        sources = (ends + (reloadsOnHangup ? [(SIGHUP, .hangup)] : [])).map { number, event in
            // The default action would end the process before the source is called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            source.setEventHandler {
                if case .stop = event { signal(number, SIG_DFL) }
                stream.send(event)
            }
            source.activate()
            // A signal that arrives before the registration would be lost.
            isRegistered.wait()
            return source
        }
    }
}
