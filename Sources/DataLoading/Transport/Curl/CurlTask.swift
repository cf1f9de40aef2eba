// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import Synchronization

    /// One attempt as both sides see it: the caller through `TransportTask`, the loop through flags.
    ///
    /// Flags are read in the middle of a transfer, so that a pause or cancel from inside a sink's
    /// callback holds for the very next byte; the mailbox only brings what needs an action.
    final class CurlTask: TransportTask {
        let request: TransportRequest
        let sink: any TransportSink
        let mailbox: LoopMailbox
        let start: Int64
        private let cancelled = Atomic<Bool>(false)
        private let paused = Atomic<Bool>(false)
        private let sending = Atomic<Bool>(false)

        init(request: TransportRequest, sink: any TransportSink, mailbox: LoopMailbox) {
            self.request = request
            self.sink = sink
            self.mailbox = mailbox
            start = LoopClock.now
        }

        var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
        var isPaused: Bool { paused.load(ordering: .acquiring) }

        var mayHaveSent: Bool { sending.load(ordering: .sequentiallyConsistent) }

        /// Notes that the request is about to be written; false when it must not be any more.
        ///
        /// A caller that cancels, and is then told that nothing was sent, can rely on it: of the two
        /// flags each side sets its own before it reads the other.
        func beginSending() -> Bool {
            sending.store(true, ordering: .sequentiallyConsistent)
            return !cancelled.load(ordering: .sequentiallyConsistent)
        }

        func cancel() {
            guard !cancelled.exchange(true, ordering: .sequentiallyConsistent) else { return }
            mailbox.post(.cancel(self))
        }

        func pause() {
            paused.store(true, ordering: .releasing)
        }

        func resume() {
            guard paused.exchange(false, ordering: .acquiringAndReleasing) else { return }
            mailbox.post(.resume(self))
        }
    }
#endif
