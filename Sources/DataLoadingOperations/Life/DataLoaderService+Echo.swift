// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension DataLoaderService {
    /// An echo through a thread of the transport, where it has any.
    ///
    /// It does not keep the service.
    var transportEcho: Watchdog.Echo {
        { [weak self] in
            guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *),
                let executor = self?.taskExecutor
            else { return }
            await Task(executorPreference: executor) {}.value
        }
    }
}
