// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingSupport
    import Foundation

    /// Descriptors that are taken from the process until loads get none, for a process of its own.
    ///
    /// Those of the reserve stay free, because Dispatch ends the process when it finds none.
    struct TakenDescriptors {
        private let taken: [Int32]

        init() throws {
            try Self.lowerLimit()
            var taken: [Int32] = []
            while DescriptorReserve.hasRoom {
                let copy = dup(0)
                guard copy >= 0 else { throw POSIXError(.EMFILE) }
                taken.append(copy)
            }
            self.taken = taken
        }

        func giveBack() {
            for descriptor in taken { close(descriptor) }
        }

        /// Allows few descriptors, so that they are taken fast.
        static func lowerLimit(to count: rlim_t = 1_024) throws {
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
            limit.rlim_cur = min(limit.rlim_cur, count)
            guard setrlimit(resource, &limit) == 0 else { throw POSIXError(.EPERM) }
        }

        #if canImport(Glibc)
            private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            private static let resource = RLIMIT_NOFILE
        #endif
    }
#endif
