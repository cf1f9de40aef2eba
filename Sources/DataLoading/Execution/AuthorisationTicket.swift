// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which question to an authoriser a request is about: one request may be performed twice at a time.
struct AuthorisationTicket: RequestOption, Hashable, Sendable {
    let load: ObjectIdentifier
    let turn: Int

    static var defaultValue: AuthorisationTicket? { nil }
}
