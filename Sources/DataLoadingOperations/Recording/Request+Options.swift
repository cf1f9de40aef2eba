// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTransport

// Most requests have no options, and each load asks.

extension DataLoaderRequest {
    /// The pattern of its path.
    var template: String? { hasOptions ? self[option: URLTemplate.self] : nil }

    /// The trace that it belongs to.
    var traceParent: TraceContext? { hasOptions ? self[option: TraceParent.self] : nil }
}

extension TransportRequest {
    /// The pattern of its path.
    var template: String? { hasOptions ? self[option: URLTemplate.self] : nil }

    /// The trace that it belongs to.
    var traceParent: TraceContext? { hasOptions ? self[option: TraceParent.self] : nil }
}
