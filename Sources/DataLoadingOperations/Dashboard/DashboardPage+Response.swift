// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DashboardPage {
    /// The page as the endpoint sends it.
    static var response: EndpointResponse {
        var response = EndpointResponse(.ok, contentType: "text/html; charset=utf-8", bytes)
        response.contentSecurityPolicy = contentSecurityPolicy
        return response
    }
}
