// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingAuth
@testable import DataLoading
import DataLoadingTesting
import Testing

/// What a fetch fails with is the fetch's, whatever the library itself has the same word for.
@Suite struct FetchFailureTests {
    @Test(arguments: [
        DataLoaderError.overloaded, .invalidConfiguration(reason: "the issuer"), .cancelled,
    ])
    func `a fetch that ends as a load does fails the loads that wait for its credential`(
        error: DataLoaderError
    ) async {
        let test = TokenBed()
        test.perform()
        await test.fetch.call(0).fail(error)
        let end = await test.bed.delegate.outcomes(1)[0].response
        guard case .cannotAuthenticate? = end?.error?.kind else {
            Issue.record("ended \(String(describing: end?.error))")
            return
        }
        #expect(end?.error?.underlyingError as? DataLoaderError == error)
    }
}
