// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Testing

/// What a server, a redirect or a log must not get.
@Suite enum SecurityTests {}
