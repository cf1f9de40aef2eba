// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// The authorisers' calls about requests.
extension CredentialProvider {
    /// Authorises a request, now or when there is a credential.
    func authorise(_ request: DataLoaderRequest, by authoriser: any Authoriser) -> Authorisation {
        let key = ObjectIdentifier(authoriser)
        let refused = request[option: CredentialStamps.self][key]
        do {
            switch current(refused: refused) {
            case .use(let issued): return .use(try add(issued, to: request, key))
            case .fail(let error): return .refuse(error)
            case .wait:
                return .later { [self] in
                    try add(try await credential(refused: refused), to: request, key)
                }
            }
        } catch {
            return .refuse(error)
        }
    }

    /// Records a server's refusal of a request.
    ///
    /// Returns whether another credential may exist for it.
    func refused(_ request: DataLoaderRequest, by authoriser: any Authoriser) -> Bool {
        let stamp = request[option: CredentialStamps.self][ObjectIdentifier(authoriser)]
        return stamp.map(refused) ?? false
    }

    private func add(
        _ issued: Record.Issued, to request: DataLoaderRequest, _ key: ObjectIdentifier
    ) throws -> DataLoaderRequest {
        var authorised = request
        try apply(issued.credential, &authorised)
        authorised.keepCredentialOnThisMachine()
        authorised[option: CredentialStamps.self][key] = issued.stamp
        if issued.expiry < authorised[option: AuthorisedUntil.self] ?? .distantFuture {
            authorised[option: AuthorisedUntil.self] = issued.expiry
        }
        return authorised
    }
}
