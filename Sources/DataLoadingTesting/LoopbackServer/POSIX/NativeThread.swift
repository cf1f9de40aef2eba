// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

import DataLoading

/// A thread that can be joined, with a stack small enough to have a thousand of them.
final class NativeThread: Sendable {
    private let handle: Locked<Handle?>

    /// Starts a thread that runs `body` once.
    ///
    /// Half a mebibyte of address space holds a handler with some JSON and the sanitizers' larger
    /// frames; only touched pages take memory.
    init(stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void) throws {
        let box = Unmanaged.passRetained(Body(run: body))
        do {
            handle = Locked(try Self.spawn(stackSize: stackSize, box.toOpaque()))
        } catch {
            box.release()
            throw error
        }
    }

    /// Waits for the end of the thread; on the thread itself, lets it go instead.
    func join() {
        let taken = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let taken else { return }
        if pthread_equal(taken, pthread_self()) != 0 {
            pthread_detach(taken)
        } else {
            pthread_join(taken, nil)
        }
    }

    static func enter(_ context: UnsafeMutableRawPointer) {
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
