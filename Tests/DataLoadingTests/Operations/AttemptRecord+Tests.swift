// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
@testable import DataLoadingOperations
import DataLoadingSupport
import Foundation

extension AttemptRecord {
    /// A sampled attempt that succeeded.
    static func make(isInternal: Bool = false) -> AttemptRecord {
        var context = AttemptContext()
        context.isInternal = isInternal
        let span = TraceContext.makeRoot()
        return AttemptRecord(
            context: context, method: .get, url: testURL("https://api.test/secret"),
            template: isInternal ? "/secret" : nil, host: .other, parent: nil, span: span,
            begun: Instant(nanoseconds: 0), ended: Instant(nanoseconds: 5), date: Date(),
            status: .ok, error: nil, report: TransportReport())
    }
}
