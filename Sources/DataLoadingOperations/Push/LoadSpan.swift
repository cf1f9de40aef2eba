// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport

/// The span of a load that has ended, inside of which its attempts are.
///
/// Its kind is "internal": only attempts are requests of HTTP. The waits of the load are its events;
/// each is a sum over the load, which is known at its end.
struct LoadSpan: Sendable {
    private let place: SpanPlace
    private let method: HTTPMethod
    private let template: String?
    private let source: String?
    private let begun: Int64
    private let metrics: LoadMetrics
    private let outcome: OutcomeWord
    private let error: String?

    /// Takes what is shown of a load; `begun` is in nanoseconds since the Unix epoch.
    init(_ response: DataLoaderResponse, at place: SpanPlace, begun: Int64) {
        let request = response.request
        self.place = place
        method = request.method
        template = request.template?.cutForLabel
        source = request.sourceIdentifier?.cutForLabel
        self.begun = begun
        metrics = response.metrics
        outcome = OutcomeWord(response.error)
        error = outcome == .failure ? response.error?.spanType : nil
    }

    /// Adds the members of the span.
    func addMembers(to json: inout JSONWriter) {
        json.span(
            place.own, inside: place.parent, "load " + MethodLabel(method).spanName(template),
            .internal, from: begun, nanoseconds: metrics.totalTime.wholeNanoseconds)
        json.key("attributes")
        json.array { json in
            json.attribute("dataloading.source", source)
            json.attribute("dataloading.load", metrics.load)
            json.attribute("dataloading.outcome", outcome.rawValue)
            json.attribute("error.type", error)
        }
        addWaits(to: &json)
        json.status(isError: outcome == .failure)
    }

    private func addWaits(to json: inout JSONWriter) {
        let waits: [(WaitLabels.Wait, Duration)] = [
            (.slot, metrics.admissionTime), (.authorisation, metrics.authorisationTime),
            (.backoff, metrics.backOffTime),
        ]
        let end = begun.addingSaturated(max(0, metrics.totalTime.wholeNanoseconds))
        json.key("events")
        json.array(of: waits.filter { $0.1 > .zero }) { json, wait in
            json.object { json in
                json.member("timeUnixNano", time: end)
                json.member("name", "dataloading.wait")
                json.key("attributes")
                json.array { json in
                    json.attribute("dataloading.wait", wait.0.rawValue)
                    json.attribute("dataloading.wait.duration", seconds: wait.1)
                }
            }
        }
    }
}

extension DataLoaderError {
    /// The status of a refusal, or the name of the kind.
    fileprivate var spanType: String {
        if case .status(let status) = kind { String(status.rawValue) } else { name }
    }
}
