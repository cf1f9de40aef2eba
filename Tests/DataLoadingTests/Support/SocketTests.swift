// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Every suite that uses sockets is nested here: they run one after another, so that what one of
/// them measures, or leaves behind, is its own.
///
/// A test that waits for what never comes fails in the end; none is asked to be quick by it.
@Suite(.serialized, .leavesNothing, .timeLimit(.minutes(30))) enum SocketTests {}
