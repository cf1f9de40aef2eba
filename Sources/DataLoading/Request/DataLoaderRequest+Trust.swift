// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport

extension DataLoaderRequest {
    private enum Policy: RequestOption {
        static let defaultValue: ServerTrustPolicy? = nil
        // Its patterns say which hosts each part is for.
        static var staysWithOrigin: Bool { false }
    }

    // The cache asks for the identity itself.
    private enum Identity: RequestOption, NeutralOption {
        static let defaultValue: ClientIdentity? = nil
    }

    /// Replaces the service's trust policy for this request; default nil: the service's.
    ///
    /// It applies to every host that the load goes to, after redirects too. With a malformed policy
    /// the load ends `.invalidRequest`.
    public var serverTrustPolicy: ServerTrustPolicy? {
        get { hasOptions ? self[option: Policy.self] : nil }
        set { self[option: Policy.self] = newValue }
    }

    /// The client certificate for the URL's origin; default nil: the trust policy's.
    ///
    /// A redirect to another origin drops it. With a malformed identity, or an identity for a URL
    /// that is not https, the load ends `.invalidRequest`.
    public var clientIdentity: ClientIdentity? {
        get { hasOptions ? self[option: Identity.self] : nil }
        set { self[option: Identity.self] = newValue }
    }
}
