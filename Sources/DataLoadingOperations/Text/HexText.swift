// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension UInt64 {
    /// Sixteen hexadecimal digits.
    var hexText: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
