// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: libcurl resends a request, also a POST, when a connection that was used before ends
// without a byte of response, and when the request's stream was refused.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0.
//
// Upstream: by design; https://github.com/curl/curl/pull/18417 proposes an option against it.
//
// Remove when libcurl has that option and this test passes with it: `CurlGuardTests`, "a POST
// is sent once although its connection went stale".

extension CurlTransfer {
    /// Returns whether libcurl may proceed to a send: not after the first one or after a
    /// response.
    func mayProceed() -> Bool {
        guard !state.response.isComplete else {
            refuseSendAfterResponse()
            return false
        }
        guard state.sends > 0 else { return true }
        if state.stop == nil {
            state.stop = state.wantsHTTP1 ? .http11Required : .connectionReset
        }
        return false
    }
}
