// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTransport

extension DataLoaderService {
    /// An echo through each thread of the transport, where it has any.
    ///
    /// It does not keep the service.
    var transportEcho: Watchdog.Echo {
        { [weak runtime] in await runtime?.transport.first((any ObservableTransport).self)?.echo() }
    }
}
