// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Closes a descriptor; for types that have a `close` method.
package func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}
