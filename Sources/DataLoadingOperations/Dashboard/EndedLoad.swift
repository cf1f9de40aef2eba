// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// What the dashboard keeps of a load that ended.
struct EndedLoad: Sendable {
    /// When it began, by the monotonic clock.
    let begun: Instant
    let feature: String?
    let outcome: OutcomeWord
    /// The name of its error; nil for a success and for what the program cancelled.
    let error: String?
    let metrics: Waits
    /// Its attempts; set where it is added to the others, under one lock for both.
    var attempts = AttemptList()
    private let number: Int64
    private let started: Date
    private let method: String
    private let place: Place
    private let status: HTTPStatus?
    private let bytes: (down: Int64, up: Int64)

    /// Where the time of a load went.
    struct Waits: Sendable {
        let total: Duration
        let slot: Duration
        let authorisation: Duration
        let backOff: Duration
    }

    /// What is shown in place of the URL.
    private enum Place {
        /// Nothing, of a load that an authoriser makes.
        case secret
        case template(String)
        case url(ShownURL)
    }

    init(
        _ response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64,
        at now: Instant, _ date: Date
    ) {
        let (request, metrics) = (response.request, response.metrics)
        outcome = OutcomeWord(response.error)
        begun = response.begun ?? now + (.zero - metrics.totalTime)
        started = date.addingTimeInterval(-(now - begun).inSeconds)
        feature = request.sourceIdentifier?.shown(maxBytes: FeatureTable.maxNameBytes)
        error = outcome == .failure ? response.error?.name : nil
        self.metrics = Waits(
            total: metrics.totalTime, slot: metrics.admissionTime,
            authorisation: metrics.authorisationTime, backOff: metrics.backOffTime)
        number = metrics.load
        method = request.method.rawValue.shown(maxBytes: 16)
        if metrics.isInternal {
            place = .secret
        } else if let template = request.template {
            place = .template(template.shown(maxBytes: Self.maxURLBytes))
        } else {
            place = .url(ShownURL(try? request.target))
        }
        status = response.statusCode
        bytes = (bytesDownloaded, bytesUploaded)
    }

    /// The pattern of its path or its URL without the query; nil for an authoriser's own load.
    private var url: String? {
        guard !attempts.isInternal else { return nil }
        return switch place {
        case .secret: nil
        case .template(let template): template
        case .url(let url): url.shown.text.shown(maxBytes: Self.maxURLBytes)
        }
    }

    private static let maxURLBytes = 320

    /// Adds its members to the object that is open, with its number in the feed.
    func addMembers(to json: inout JSONWriter, number place: Int64) {
        json.member("number", place)
        json.member("load", number)
        let url = url
        json.member("feature", feature)
        json.member("method", method)
        json.member("url", url)
        json.member("internal", url == nil ? true : nil)
        json.member("status", status?.rawValue)
        json.member("outcome", outcome.rawValue)
        json.member("error", error)
        json.member("started", (started.timeIntervalSince1970 * 1_000).rounded() / 1_000)
        json.member("seconds", seconds: metrics.total)
        json.key("waits")
        json.object { json in
            json.member("slot", seconds: metrics.slot)
            json.member("authorisation", seconds: metrics.authorisation)
            json.member("backOff", seconds: metrics.backOff)
        }
        json.key("bytes")
        json.object { json in
            json.member("down", bytes.down)
            json.member("up", bytes.up)
        }
        json.key("attempts")
        json.array(of: attempts.kept) { json, attempt in
            json.object { attempt.addMembers(to: &$0, since: begun) }
        }
        json.member("attemptsLeftOut", attempts.leftOut == 0 ? nil : attempts.leftOut)
    }
}
