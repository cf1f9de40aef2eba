// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderRequest {
    // A redirect to another origin keeps these options: their values are not for one origin.
    private enum SkipsAuthorisation: RequestOption {
        static let defaultValue = false
        static var staysWithOrigin: Bool { false }
    }

    private enum Methods: RequestOption {
        static let defaultValue: [AuthenticationMethod] = []
        static var staysWithOrigin: Bool { false }
    }

    /// Whether a request is sent without asking any authoriser; default false.
    public var skipsAuthorisation: Bool {
        get { self[option: SkipsAuthorisation.self] }
        set { self[option: SkipsAuthorisation.self] = newValue }
    }

    /// The methods of the authorisers that are asked, in this order; default none.
    ///
    /// An authoriser without a method is asked about every request. After a redirect to another
    /// origin the same authorisers are asked, and each decides by its hosts.
    public var authenticationMethods: [AuthenticationMethod] {
        get { self[option: Methods.self] }
        set { self[option: Methods.self] = newValue }
    }
}
