// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP that an attempt used.
enum VersionLabel: String, CaseIterable, Sendable {
    case http10 = "1.0"
    case http11 = "1.1"
    case http2 = "2"
    case http3 = "3"

    /// The version that a transport reports; nil when it reports none, or no version of HTTP.
    init?(reported: String?) {
        guard let reported, let known = Self(rawValue: reported) else { return nil }
        self = known
    }

    var label: Label { Label("network.protocol.version", rawValue) }
}
