// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import DataLoadingTransport

    /// Nothing: the connection needs the transport of Linux.
    final class RedisStream {
        static var forks: Int32 { 0 }

        init(to endpoint: RedisEndpoint, _ configuration: RedisConfiguration) throws(RedisFailure) {
            throw .connection(.unsupported(reason: "Redis needs Linux and libcurl"))
        }

        var descriptor: Int32 { -1 }

        var takesAnyThread: Bool { false }

        func send(_ bytes: [UInt8]) throws(RedisFailure) -> Int { throw .closed }

        func receive() throws(RedisFailure) -> ArraySlice<UInt8> { throw .closed }
    }
#endif
