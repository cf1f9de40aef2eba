// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Suites that simulate fleets, one test after another.
@Suite(.serialized, .computesForLong) enum SimulatedFleets {}
