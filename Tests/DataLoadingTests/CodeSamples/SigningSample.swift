// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoading
import Foundation

// The sample of a signing authoriser in the article about authorisation.

final class HMACAuthoriser: Authoriser {
    private let host: String
    private let keyName: String
    private let now: @Sendable () -> Date
    private let hash: @Sendable (Data) -> Data
    private let sign: @Sendable (Data) -> Data

    init(
        host: String, keyName: String, now: @escaping @Sendable () -> Date = { Date() },
        hash: @escaping @Sendable (Data) -> Data, sign: @escaping @Sendable (Data) -> Data
    ) {
        self.host = host
        self.keyName = keyName
        self.now = now
        self.hash = hash
        self.sign = sign
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard request.url.scheme == "https", request.url.host() == host,
            request.url.port ?? 443 == 443
        else { return .unchanged }
        let body: Data
        switch request.body {
        case nil: body = Data()
        case .data(let bytes), .encoded(let bytes, _): body = bytes
        default:
            return .refuse(
                AuthorisationError.invalidConfiguration(reason: "a body that is not in memory"))
        }
        let path = request.url.path(percentEncoded: true)
        let query = request.url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let target = (path.isEmpty ? "/" : path) + query
        let date = now().formatted(.iso8601)
        let digest = hash(body).base64EncodedString()
        let text = [request.method.rawValue, target, date, digest].joined(separator: "\n")
        let signature = sign(Data(text.utf8)).base64EncodedString()

        var signed = request
        signed.headers["X-Date"] = date
        signed.headers["Content-Digest"] = "sha-256=:\(digest):"
        signed.headers["Authorization"] = "HMAC key=\"\(keyName)\", signature=\"\(signature)\""
        return .use(signed)
    }
}
