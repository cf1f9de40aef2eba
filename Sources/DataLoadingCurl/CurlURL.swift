// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

/// A URL that libcurl has parsed.
///
/// libcurl parses the text of a URL again for each transfer; of a parsed one it makes a copy.
final class CurlURL {
    let handle: OpaquePointer

    /// Makes a URL without a text; nil when memory is exhausted.
    init?() {
        guard let handle = ccurl_url_init() else { return nil }
        self.handle = handle
    }

    deinit {
        ccurl_url_cleanup(handle)
    }

    /// Replaces the URL; its path is left as it is.
    func parse(_ text: String) throws(DataLoaderError) {
        switch ccurl_url_parse(handle, text) {
        case 0: return
        case 7: throw .resources(reason: "memory")  // CURLUE_OUT_OF_MEMORY
        default: throw .invalidRequest(.target)
        }
    }
}
