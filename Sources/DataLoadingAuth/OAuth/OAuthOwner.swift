// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Marks that an authoriser is alive: polling for a login ends once it is released.
final class OAuthOwner: Sendable {}
