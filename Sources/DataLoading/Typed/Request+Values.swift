// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
public import Foundation

extension Request where Value: Decodable {
    /// Makes a request whose value is decoded, by default from JSON, when the status is 200 to 299.
    ///
    /// With another status it throws `DataLoaderError.status`, which has the body.
    public init(_ request: DataLoaderRequest, decoder: any ResponseDecoder = JSONDecoder()) {
        self.init(request) { try Self.decoded($0, by: decoder) }
    }

    /// Makes a request for an endpoint whose value is decoded, by default from JSON, when the
    /// status is 200 to 299.
    ///
    /// With another status it throws `DataLoaderError.status`, which has the body.
    public init(
        _ endpoint: Endpoint, method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody? = nil, decoder: any ResponseDecoder = JSONDecoder()
    ) {
        self.init(endpoint, method: method, headers: headers, body: body) {
            try Self.decoded($0, by: decoder)
        }
    }

    private static func decoded(
        _ response: DataLoaderResponse, by decoder: any ResponseDecoder
    ) throws -> Value {
        try response.validateStatusCode()
        return try response.decoded(using: decoder)
    }
}

// Data is Decodable, and would be read from a string of base64 in JSON.
extension Request where Value == Data {
    /// Makes a request whose value is the body as it is, when the status is 200 to 299.
    public init(_ request: DataLoaderRequest) {
        self.init(request, decode: Self.body)
    }

    /// Makes a request for an endpoint whose value is the body as it is, when the status is 200 to
    /// 299.
    public init(
        _ endpoint: Endpoint, method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody? = nil
    ) {
        self.init(endpoint, method: method, headers: headers, body: body, decode: Self.body)
    }

    @Sendable private static func body(of response: DataLoaderResponse) throws -> Data {
        try response.validateStatusCode()
        return response.body ?? Data()
    }
}

extension Request where Value == Void {
    /// Makes a request that succeeds with any status of 200 to 299, whatever the body.
    public init(_ request: DataLoaderRequest) {
        self.init(request) { try $0.validateStatusCode() }
    }

    /// Makes a request for an endpoint that succeeds with any status of 200 to 299, whatever the
    /// body.
    public init(
        _ endpoint: Endpoint, method: HTTPMethod = .get, headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody? = nil
    ) {
        self.init(endpoint, method: method, headers: headers, body: body) {
            try $0.validateStatusCode()
        }
    }
}
