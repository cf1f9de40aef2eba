// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What an authoriser has as long as it is there: a login that nobody wants any more ends without it.
final class OAuthOwner: Sendable {}
