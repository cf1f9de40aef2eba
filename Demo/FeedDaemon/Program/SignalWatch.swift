// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

import Dispatch

/// Turns SIGINT and SIGTERM into an orderly end, and a second one into an end at once.
final class SignalWatch {
    private let sources: [any DispatchSourceSignal]

    init(wire: Wire) {
        sources = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")].map { number, name in
            // The default action would end the process before the source is asked.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            let isRegistered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { isRegistered.signal() }
            source.setEventHandler {
                signal(number, SIG_DFL)
                wire.send(.stop(reason: name))
            }
            source.activate()
            // A signal that came before would be lost.
            isRegistered.wait()
            return source
        }
    }

    /// Gives the signals back their default actions.
    func end() {
        for source in sources {
            source.cancel()
            signal(Int32(source.handle), SIG_DFL)
        }
    }
}
