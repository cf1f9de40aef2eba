// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("https://a.test/x/y", "https://a.test/x/y"), ("HTTP://A.test", "http://a.test/"),
        ("http://a.test:80/x", "http://a.test/x"), ("https://a.test:8443/", "https://a.test:8443/"),
        ("https://a.test/x?token=s3cret#part", "https://a.test/x?…"),
        ("https://me:s3cret@a.test/", "(invalid URL)"), ("s3cret", "(invalid URL)"),
    ])
    func `a request's description shows its target and no secret`(
        url: String, text: String
    ) throws {
        let request = DataLoaderRequest(url: try #require(URL(string: url)))
        #expect(request.description == "GET \(text)")
    }
}
