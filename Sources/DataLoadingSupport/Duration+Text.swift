// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The duration for a sentence: "12 ms", "3.1 s".
    package var shortText: String {
        let seconds = inSeconds
        guard abs(seconds) >= 1 else {
            let milliseconds = (seconds * 10_000).rounded() / 10
            return Self.text(milliseconds) + " ms"
        }
        return Self.text((seconds * 10).rounded() / 10) + " s"
    }

    /// The number, without a fraction that is zero.
    private static func text(_ number: Double) -> String {
        guard number == number.rounded(), let whole = Int64(exactly: number) else {
            return "\(number)"
        }
        return "\(whole)"
    }
}
