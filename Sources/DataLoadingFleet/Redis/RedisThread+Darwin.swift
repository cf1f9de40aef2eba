// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    extension RedisThread {
        static func nameCurrent() {}

        func register() {}

        func unregister() {}
    }
#endif
