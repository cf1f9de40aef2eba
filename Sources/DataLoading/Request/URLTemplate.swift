// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport

/// The pattern of a request's path, for example "/users/{id}", which an access log shows in place of
/// the URL; nil, the default, for none.
///
/// ```swift
/// request[option: URLTemplate.self] = "/users/{id}"
/// ```
/// A path itself is no label: each of its values would be a series of its own, and it may hold what
/// is secret. It is kept through redirects, also to other origins, which may repeat the path.
public enum URLTemplate: RequestOption, Sendable {
    /// Nil: the request has no pattern.
    public static let defaultValue: String? = nil
    /// False: a redirect, as from http to https, may repeat the path that it hides.
    public static var staysWithOrigin: Bool { false }
}
