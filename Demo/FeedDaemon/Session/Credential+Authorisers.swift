// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoading

extension FeedConfiguration.Credential {
    /// The authorisers of the factory whose loads need the credential.
    func authorisers(on service: DataLoaderService, session: Session) -> [any Authoriser] {
        switch self {
        case .none:
            return []
        case .token(let token, let hosts):
            return [StaticTokenAuthoriser(token: token, hosts: hosts)]
        case .login(let configuration):
            return [
                OAuthAuthoriser(
                    configuration, service: service, store: session, delegate: session)
            ]
        }
    }
}
