// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// Suites that simulate fleets, one test after another: each computes for seconds, for which it has a
/// thread that other tests wait for.
@Suite(.serialized) enum SimulatedFleets {}
