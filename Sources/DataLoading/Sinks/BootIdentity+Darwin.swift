// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin

    /// The time between two starts of the machine.
    enum BootIdentity {
        /// A text that differs after each start; nil where the system does not tell.
        static let current: String? = {
            var text = [UInt8](repeating: 0, count: 64)
            var size = text.count
            guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else {
                return nil
            }
            return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }()
    }
#endif
