// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    package import Darwin

    extension NativeThread {
        package typealias Handle = pthread_t

        package static func spawn(stackSize: Int, _ context: UnsafeMutableRawPointer) throws
            -> Handle
        {
            var handle: pthread_t?
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setstacksize(&attributes, stackSize)
            let code = pthread_create(
                &handle, &attributes,
                { context in
                    NativeThread.enter(context)
                    return nil
                }, context)
            guard code == 0, let handle else {
                throw SocketError(operation: "pthread_create", code: code)
            }
            return handle
        }

        /// Nil: there is no list of threads to wait for.
        package static var currentNumber: Int? { nil }

        package static func awaitRemoval(of number: Int) {}
    }
#endif
