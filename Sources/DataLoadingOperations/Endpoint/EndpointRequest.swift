// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// A request to the endpoint.
struct EndpointRequest: Equatable {
    let isHead: Bool
    /// The path, without the query.
    let path: Substring
    let headers: HTTPHeaders
    /// Whether the connection may have another request after it.
    let keepsAlive: Bool
    /// Why it is not answered, if its host may ask: another method than GET and HEAD, or a body.
    var refusal: EndpointStatus?
}

/// What the bytes of a connection begin with.
enum EndpointHead: Equatable {
    /// Not all of a head.
    case incomplete
    /// A request, in so many bytes.
    case request(EndpointRequest, length: Int)
    /// No request that is answered; the connection ends after this status.
    case refused(EndpointStatus)
}
