// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: a connection that ends inside a response head is a success for libcurl.
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0.
//
// Upstream: no upstream report known; https://github.com/curl/curl/issues/2801 is a success
// without any response.
//
// Remove when these tests pass without it on every supported version: `CurlFaultTests`, "an end
// inside the head ends as a truncated head"; `FaultMatrix`, the rows of a head that is cut off.

extension CurlTransfer {
    /// The error of a transfer that libcurl ended as a success before its head was complete.
    var incompleteHeadError: DataLoaderError? {
        guard !state.response.isComplete else { return nil }
        return state.response.bytes > 0 ? .truncatedHead : .noResponse
    }
}
