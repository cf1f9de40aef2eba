// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Foundation

extension AttemptRecord {
    /// A sampled attempt that succeeded, or failed with an error.
    static func make(
        _ error: DataLoaderError? = nil, _ report: TransportReport = TransportReport(),
        isInternal: Bool = false, load: Int64? = nil
    ) -> AttemptRecord {
        var context = AttemptContext()
        context.isInternal = isInternal
        let span = TraceContext.makeRoot()
        return AttemptRecord(
            context: context, reportedLoad: load, method: .get,
            url: testURL("https://api.test/secret"),
            template: isInternal ? "/secret" : nil, host: .other, parent: nil, span: span,
            begun: Instant(nanoseconds: 0), ended: Instant(nanoseconds: 5), date: Date(),
            status: error == nil ? .ok : nil, error: error, report: report)
    }
}
