// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// An option that stays with its origin, and that no authoriser turns into a credential.
///
/// A load of a factory with authorisers whose request has any other option that stays with its
/// origin is neither answered from the cache nor stored: the response may be for the user whom the
/// option names. `RequestOption` demands that options which become credentials stay with their
/// origin, so those that do not need no mark.
package protocol NeutralOption {}
