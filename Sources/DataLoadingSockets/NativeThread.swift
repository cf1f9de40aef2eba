// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A thread that can be joined, with a stack small enough for a thousand of them.
package final class NativeThread: Sendable {
    private let handle: Locked<Handle?>
    private let body: Body

    /// Starts a thread that runs `body` once.
    ///
    /// The default stack is 512 KiB: room for a handler with some JSON, and for the sanitizers'
    /// larger frames. Only touched pages take memory.
    package init(stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void) throws {
        self.body = Body(body)
        let passed = Unmanaged.passRetained(self.body)
        do {
            handle = Locked(try Self.spawn(stackSize: stackSize, passed.toOpaque()))
        } catch {
            passed.release()
            throw error
        }
    }

    /// Waits for the end of the thread; on the thread itself it detaches instead.
    package func join() {
        guard let taken = handle.withLock({ $0.take() }) else { return }
        guard pthread_equal(taken, pthread_self()) == 0 else {
            pthread_detach(taken)
            return
        }
        pthread_join(taken, nil)
        if let number = body.number.withLock({ $0 }) { Self.awaitRemoval(of: number) }
    }

    /// The entry point of every thread; runs the body passed in `context`.
    package static func enter(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    }

    private final class Body: Sendable {
        let number = Locked<Int?>(nil)
        private let work: Locked<(@Sendable () -> Void)?>

        init(_ work: @escaping @Sendable () -> Void) {
            self.work = Locked(work)
        }

        func run() {
            number.withLock { $0 = NativeThread.currentNumber }
            // Taken out, so that objects of the closure are released when it ends.
            work.withLock { $0.take() }?()
        }
    }
}
