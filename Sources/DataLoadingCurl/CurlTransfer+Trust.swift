// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

extension CurlTransfer {
    /// Forgets the paths of the system's authorities for the peers that speak no TLS, since libcurl
    /// copies each of them for each transfer.
    ///
    /// A reset of the handle brings them back, and a handle is reset before it speaks TLS to another
    /// kind of peer. A libcurl without TLS does not know these options.
    func forgetAuthorities(_ shape: CurlShape) {
        if !shape.isSecure {
            _ = ccurl_set_pointer(easy, CurlOption.certificateFile, nil)
            _ = ccurl_set_pointer(easy, CurlOption.certificatePath, nil)
        }
        if shape.proxy?.origin.isSecure != true {
            _ = ccurl_set_pointer(easy, CurlOption.proxyCertificateFile, nil)
            _ = ccurl_set_pointer(easy, CurlOption.proxyCertificatePath, nil)
        }
    }
}
