// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: libcurl resends a request that was answered with 417, and drops the body of that
// response. Whether to resend is the caller's decision. libcurl also resends when a server
// takes a response back, whose rest is then missing.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0, on each of which the test below fails without the code.
//
// Upstream: no upstream report known; https://github.com/curl/curl/issues/11678 is near it.
//
// Remove when this test passes without it on every supported version: `CurlExpectTests`,
// "nothing more is sent after a 417 on a connection that stays open".

extension CurlTransfer {
    /// Notes why libcurl must not send the request again after a response.
    func refuseSendAfterResponse() {
        state.isAnswered = state.response.refusesExpectation
        if !state.isAnswered { state.stop = .http11Required }
    }

    /// Returns whether libcurl's result stems from that refusal, so that the response counts.
    func isRefusedResend(_ result: Int32) -> Bool {
        state.isAnswered || (result == 65 && state.response.refusesExpectation)
    }
}
