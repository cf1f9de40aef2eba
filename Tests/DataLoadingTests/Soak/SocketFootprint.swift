// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Dispatch

    /// The resources of an otherwise idle process that a leak would increase.
    struct SocketFootprint: Hashable, Sendable, CustomStringConvertible {
        var sockets = ProcessFigures.sockets
        var descriptors = ProcessFigures.descriptors
        /// The library's own threads and all threads.
        var libraryThreads = ProcessFigures.libraryThreads
        var threads = ProcessFigures.threads
        /// Requests, transports and delegates that carry a tracer.
        var objects = FaultTracer.count

        var description: String {
            "\(objects) objects, \(sockets) sockets, \(descriptors) descriptors, "
                + "\(libraryThreads) threads of the library, \(threads) in all"
        }

        /// The same with unlimited resources that the system keeps for later.
        var withRoom: SocketFootprint {
            var other = self
            other.descriptors = .max
            other.threads = .max
            return other
        }

        /// Whether no figure has grown, except for some Dispatch threads.
        func isWithin(_ before: SocketFootprint, moreThreads: Int) -> Bool {
            sockets <= before.sockets && descriptors <= before.descriptors
                && libraryThreads <= before.libraryThreads && objects <= before.objects
                && threads <= before.threads + moreThreads
        }

        /// The footprint once it is within another one, or after a timeout.
        ///
        /// Dispatch ends a thread that was idle for some seconds.
        static func settled(
            within before: SocketFootprint, moreThreads: Int,
            grace: Duration = .seconds(60) * patience
        ) async -> SocketFootprint {
            let begun = ContinuousClock.now
            while true {
                let now = SocketFootprint()
                if now.isWithin(before, moreThreads: moreThreads)
                    || ContinuousClock.now - begun > grace
                {
                    return now
                }
                await pause()
            }
        }

        /// The present footprint, including the threads, for which `settled` waits.
        static func measured() async -> SocketFootprint {
            await pause()
            return SocketFootprint()
        }

        private static func pause() async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
                    continuation.resume()
                }
            }
        }
    }
#endif
