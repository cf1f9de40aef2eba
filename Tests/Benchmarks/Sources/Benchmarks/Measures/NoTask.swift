// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A task that cannot be stopped.
final class NoTask: TransportTask {
    func cancel() {}
    func pause() {}
    func resume() {}
}
