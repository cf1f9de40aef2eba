// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Every suite that uses sockets is nested here: they run one after another, so that each measures
/// only its own resources and time.
///
/// A test that waits for ever fails at the time limit; the limit does not check speed.
@Suite(.serialized, .leavesNothing, .checksTimes, .timeLimit(.minutes(30))) enum SocketTests {}
