// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import Dispatch

extension DataLoaderService {
    /// Lists the queues on which the service works and calls user code; nil once nothing of it
    /// exists any more.
    ///
    /// The list does not keep the service. Factories and loaders outlive the service, which may be
    /// dropped as soon as they are made.
    package var workQueues: @Sendable () -> [DispatchQueue]? {
        { [weak runtime] in runtime?.workQueues }
    }
}
