// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting

/// An authoriser that answers when the test says so.
final class HoldingAuthoriser: Authoriser {
    private let holds = EventRecorder<HeldQuestion>()

    /// Returns once it has been asked about this many requests.
    func held(_ count: Int) async { _ = await holds.first(count) }

    /// Authorises all held requests.
    func answerAll() {
        for question in holds.elements { question.answer(.success(question.request)) }
    }

    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        let question = HeldQuestion(request)
        holds.record(question)
        return question.authorisation()
    }
}
