// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Ends the daemon in order at the first SIGINT or SIGTERM; a second one kills the process.
final class SignalWatch {
    private let sources: [any DispatchSourceSignal]

    init(_ stream: EventStream) {
        sources = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")].map { number, name in
            // The default action would end the process before the source is called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            source.setEventHandler {
                signal(number, SIG_DFL)
                stream.send(.stop(reason: name))
            }
            source.activate()
            // A signal that arrives before the registration would be lost.
            isRegistered.wait()
            return source
        }
    }
}
