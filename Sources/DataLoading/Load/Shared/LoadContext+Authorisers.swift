// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The authorisers of a load: those of its factory, and that of the service's proxy.
extension LoadContext {
    /// Whether any authoriser is asked about a request.
    ///
    /// The proxy's is asked about every request, also about one that skips authorisation.
    func asksAuthorisers(about request: DataLoaderRequest) -> Bool {
        if runtime.proxyAuthoriser != nil { return true }
        guard !request.skipsAuthorisation else { return false }
        return !authorisers.isEmpty || request.authenticationMethods.first != nil
    }

    /// Makes the chain of an attempt; throws when the request names a method that no authoriser has.
    func authoriserChain(
        _ request: DataLoaderRequest, refused: AuthoriserChain.Stamps
    ) throws(AuthorisationError) -> AuthoriserChain {
        try AuthoriserChain(
            request, authorisers, proxy: runtime.proxyAuthoriser, refused: refused)
    }
}
