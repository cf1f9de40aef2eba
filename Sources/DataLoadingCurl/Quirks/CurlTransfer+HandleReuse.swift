// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Quirk: an easy handle keeps for its next transfer that the last one's stream was refused, and
// how often libcurl has resent a request: at the sixth resend it fails. After a transfer that
// libcurl has not ended it may keep more than libcurl tells.
//
// Seen on: 7.88.1. No test fails without the code on 7.88.1, 8.14.1 or 8.23.0, so that removing
// it first needs a test that reuses a handle after refused streams.
//
// Upstream: https://github.com/curl/curl/pull/5800, which moved the count of resends from the
// connection to the handle.
//
// Remove when such a test passes with every handle kept, and these tests do:
// `HTTP2RefusalTests`, "a POST whose stream was refused is sent again"; `CurlSleepTests`, "a
// reset drops the handles of attempts that have sent".

extension CurlTransfer {
    /// Whether the handle can carry another attempt.
    var isReusable: Bool {
        state.routing.isOver && !state.routing.closesConnection && !state.hadError
            && state.sends == 1
    }
}
