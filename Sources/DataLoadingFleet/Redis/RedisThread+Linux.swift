// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingCurl
    import Dispatch

    extension RedisThread: LibcurlThread {
        var mustStopForExit: Bool { mustStop }

        func stopForExit() { stopToExit() }

        func waitForExit(until deadline: DispatchTime) {
            guard hasLeft.wait(timeout: deadline) == .success else { return }
            join()
        }

        static func nameCurrent() { CurlStream.nameThread("DataLoading") }

        func register() { LoopRegistry.add(self) }

        func unregister() { LoopRegistry.remove(self) }
    }
#endif
