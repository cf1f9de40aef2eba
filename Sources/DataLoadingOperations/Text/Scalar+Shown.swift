// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether a reader sees it as what it is: it does not control a terminal, end a line or reverse
    /// the direction of text.
    var isShown: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
