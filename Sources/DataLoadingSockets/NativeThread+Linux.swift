// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(Android)
    #if canImport(Glibc)
        package import Glibc
    #elseif canImport(Musl)
        package import Musl
    #endif

    extension NativeThread {
        package typealias Handle = pthread_t

        package static func spawn(stackSize: Int, _ context: UnsafeMutableRawPointer) throws
            -> Handle
        {
            var handle = Handle()
            // Not `pthread_attr_t()`: the module that owns that initialiser depends on which others
            // include the header.
            let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
            pthread_attr_init(attributes)
            defer {
                pthread_attr_destroy(attributes)
                attributes.deallocate()
            }
            pthread_attr_setstacksize(attributes, stackSize)
            let code = pthread_create(
                &handle, attributes,
                { context in
                    if let context { NativeThread.enter(context) }
                    return nil
                }, context)
            guard code == 0 else {
                throw SocketError(operation: "pthread_create", code: code)
            }
            return handle
        }

        /// The running thread's number in the process's list; nil where there is no such list.
        package static var currentNumber: Int? {
            var path = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/thread-self", &path, path.count)
            let digits = path.prefix(max(0, count)).split(separator: UInt8(ascii: "/")).last
            return digits.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }

        /// Waits until a joined thread has left the process's list.
        ///
        /// The kernel ends the join a moment before it removes the thread from the list, so that a
        /// test that counts threads would still count it. When the number is reused, the wait ends
        /// after 100,000 tries.
        package static func awaitRemoval(of number: Int) {
            for _ in 0..<100_000 {
                guard access("/proc/self/task/\(number)", F_OK) == 0 else { return }
                sched_yield()
            }
        }
    }
#endif
