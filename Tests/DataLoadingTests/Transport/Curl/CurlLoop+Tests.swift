// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    import Testing

    extension CurlLoop {
        /// Makes a loop that no thread runs.
        static func make() throws -> CurlLoop {
            let library = try #require(CurlLibrary.shared)
            let wakeEvent = try #require(EventDescriptor())
            return CurlLoop(
                library: library, mailbox: LoopMailbox(wakeEvent: wakeEvent),
                poll: try #require(EventPoll(watching: wakeEvent)), setup: LoopSetup())
        }
    }
#endif
