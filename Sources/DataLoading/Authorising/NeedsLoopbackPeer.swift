// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// Whether a request carries a credential over plain http, which requires a loopback peer.
enum NeedsLoopbackPeer: RequestOption, NeutralOption {
    static var defaultValue: Bool { false }
}

extension DataLoaderRequest {
    /// Marks a plain http request that got a credential: it may connect to this machine only.
    ///
    /// A host name does not prove where it leads (RFC 8252 section 8.3).
    package mutating func keepCredentialOnThisMachine() {
        guard url.scheme?.asciiLowercased == "http" else { return }
        self[option: NeedsLoopbackPeer.self] = true
    }
}
