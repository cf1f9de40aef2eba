// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Returns once a condition holds that has no notification; other tasks run in the meantime.
///
/// It has no time limit of its own: a test that is cancelled by its time limit fails here.
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
