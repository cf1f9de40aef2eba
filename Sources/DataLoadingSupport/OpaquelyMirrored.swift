// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A value that may hold a secret and that hides its content from `dump` and mirrors.
///
/// A careful description is not enough. Printing or dumping a value that contains it, or a crash
/// reporter that mirrors everything, reads past every description down to stored properties.
package protocol OpaquelyMirrored: CustomReflectable {}

extension OpaquelyMirrored {
    /// A mirror without children.
    public var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>())
    }
}
