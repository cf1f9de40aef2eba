// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a limiter is to share its rates with.
struct FleetMembership: Sendable {
    let provider: any QuotaProvider
    let expectedMembers: Int
    let policy: LossPolicy
}
