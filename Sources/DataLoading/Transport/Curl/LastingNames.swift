// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// The entries that a multi handle keeps of names, which below libcurl 7.75 never expire.
    ///
    /// So that a program that loads from ever more hosts keeps no entry of each, the oldest go with
    /// the lines that set new ones.
    struct LastingNames {
        /// Many more than there are attempts at once: no entry goes that one still needs.
        static let limit = 1_024
        private var known: Set<String> = []
        private var order = FIFO<String>()

        /// The lines for CURLOPT_RESOLVE that set an entry, "host:port".
        mutating func lines(_ entry: String, addresses: String) -> [String] {
            let line = entry + ":" + addresses
            guard known.insert(entry).inserted else { return [line] }
            order.append(entry)
            guard known.count > Self.limit, let oldest = order.popFirst() else { return [line] }
            known.remove(oldest)
            return ["-" + oldest, line]
        }
    }
#endif
