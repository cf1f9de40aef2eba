// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The rules for `tracestate`, whose members are opaque to all but their owners.
enum TraceState {
    /// The number of characters that the specification asks each system to pass on.
    private static let maxLength = 512

    /// A value to send: itself, or its first members that fit; nil when there is nothing to send.
    ///
    /// A value that could end the header, or that is no ASCII, is not sent at all.
    static func limited(_ value: String) -> String? {
        let isAllowed = value.hasOnlyBytes { $0 == 0x09 || (0x20...0x7E).contains($0) }
        guard isAllowed, value.utf8.contains(where: { $0 != 0x09 && $0 != 0x20 }) else {
            return nil
        }
        guard value.utf8.count > maxLength else { return value }
        // One byte more, because a comma there ends a member that fits.
        let head = value.utf8.prefix(maxLength + 1)
        guard let end = head.lastIndex(of: UInt8(ascii: ",")), end > head.startIndex else {
            return nil
        }
        return String(value[..<end])
    }
}
