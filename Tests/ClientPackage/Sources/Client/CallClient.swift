// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

private struct Catalogue: Decodable {
    let names: [String]
}

/// A serializer of another package.
private struct Lines: ResponseSerializer {
    func serialize(_ response: DataLoaderResponse) throws -> [Substring] {
        String(decoding: response.body ?? Data(), as: UTF8.self).split(separator: "\n")
    }
}

/// The chain of calls.
func useCall(_ loader: DataLoader, _ url: URL) async throws {
    let call = loader.request(url, sourceIdentifier: "client")
        .modify { $0.headers["Accept"] = "application/json" }
        .validate { response in
            if response.body == nil { throw CancellationError() }
        }
        .validateStatusCode(in: 200..<300)
        .response { print($0.response.statusCode == .ok) }
        .responseData { print($0.value?.count ?? 0) }
        .responseDecodable(Catalogue.self) { print($0.value?.names ?? []) }
        .responseJSON { print($0.value as Any) }
        .responseSerializable(serializer: Lines()) { print($0.error as Any) }
    call.cancel()
    _ = try await call.response()
    _ = try await call.responseData()
    _ = try await call.responseDecodable(Catalogue.self, decoder: JSONDecoder())
}
