// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) || os(Android)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension NativeThread {
        typealias Handle = pthread_t

        static func spawn(stackSize: Int, _ context: UnsafeMutableRawPointer) throws -> Handle {
            var handle = Handle()
            // Not `pthread_attr_t()`: which module owns that initialiser depends on who else
            // includes the header.
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
                throw LoopbackServerError(operation: "pthread_create", code: code)
            }
            return handle
        }
    }
#endif
