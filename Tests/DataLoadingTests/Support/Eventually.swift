// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Returns once a condition holds that nothing tells of; other tasks run meanwhile.
///
/// It has no limit of its own: a test that is cancelled, as by its time limit, fails here.
func eventually(
    _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    while !condition() {
        guard !Task.isCancelled else {
            Issue.record("What was waited for never came.", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
