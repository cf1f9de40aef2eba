// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    extension ProcessUsage {
        /// Nil: Darwin has no /proc, and an app's usage is for its own tools to see.
        static var now: ProcessUsage? { nil }
    }
#endif
