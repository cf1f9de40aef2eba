// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

extension FeedConfiguration.Credential {
    /// The authorisers of the factory whose loads need the credential.
    func authorisers(tokensFrom factory: DataLoaderFactory, wire: Wire) -> [any Authoriser] {
        switch self {
        case .none:
            []
        case .token(let token, let hosts):
            [StaticTokenAuthoriser(token: token, hosts: hosts)]
        case .session(let url):
            [SessionAuthoriser(tokenURL: url, loader: factory.makeDataLoader(), wire: wire)]
        }
    }
}
