// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether a request is sent without asking any authoriser; default false.
public enum SkipsAuthorisation: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: it also applies after a redirect to another origin.
    public static var staysWithOrigin: Bool { false }
}
