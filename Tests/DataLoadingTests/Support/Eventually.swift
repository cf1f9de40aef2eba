// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Returns once a condition holds that nobody tells of; other tasks run meanwhile.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
