// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// FAULTS section 4 row by row: what a peer, a redirect or a careless print must not get.
@Suite enum SecurityTests {}
