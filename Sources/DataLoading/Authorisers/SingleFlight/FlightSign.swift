// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a flight says of itself while it is under way.
enum FlightSign: Sendable {
    /// A person is asked, who may take as long as it pleases: what lasts is used meanwhile.
    case takesLong
    /// What a server did not take is not to be used any more: the server that issued it says so too.
    case endsDoubted
}
