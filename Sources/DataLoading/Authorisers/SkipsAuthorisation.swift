// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Whether no authoriser is asked about a request; default false.
public enum SkipsAuthorisation: RequestOption, Sendable {
    /// False.
    public static var defaultValue: Bool { false }
    /// False: it holds wherever the load is led.
    public static var staysWithOrigin: Bool { false }
}
