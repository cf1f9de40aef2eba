// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Suites that compute for seconds, one test after another.
///
/// Nested here they take one of the places that a limit of concurrent tests leaves, and not all.
@Suite(.serialized, .computesForLong) enum LongComputations {}
