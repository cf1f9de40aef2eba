// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation

extension TestBed {
    /// A bed whose loads go through a proxy, but for those of `direct.test`.
    static func behindProxy(
        _ answers: [ScriptedAnswer] = [], otherwise: ScriptedAnswer = .respond(status: 200),
        authorisers: [any Authoriser] = [], proxyAuthoriser: (any Authoriser)? = nil,
        _ configure: (inout DataLoaderService.Configuration) -> Void = { _ in }
    ) throws -> TestBed {
        let proxy = try Proxy("https://proxy.test:3128", directHosts: ["direct.test"])
        return TestBed(answers, otherwise: otherwise, authorisers: authorisers) { configuration in
            configuration.proxy = proxy
            configuration.proxyAuthoriser = proxyAuthoriser
            configure(&configuration)
        }
    }
}
