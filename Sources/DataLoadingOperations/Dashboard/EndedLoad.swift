// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// What the dashboard keeps of a load that ended.
struct EndedLoad: Sendable {
    /// When it began, by the monotonic clock, as well as its attempts tell it.
    let begun: Instant
    let feature: String?
    let outcome: Outcome
    /// The name of its error; nil for a success and for what the program cancelled.
    let error: String?
    let metrics: Waits
    private let number: Int64
    private let started: Date
    private let method: String
    /// The pattern of its path or its URL without the query; nil for an authoriser's own load.
    private let url: String?
    private let status: HTTPStatus?
    private let bytes: (down: Int64, up: Int64)
    private let attempts: AttemptList

    /// Where the time of a load went.
    struct Waits: Sendable {
        let total: Duration
        let slot: Duration
        let authorisation: Duration
        let backOff: Duration
    }

    init(
        _ response: DataLoaderResponse, _ attempts: AttemptList,
        bytesDownloaded: Int64, bytesUploaded: Int64, at now: Instant, _ date: Date
    ) {
        let (request, metrics) = (response.request, response.metrics)
        outcome = Outcome(response.error)
        begun = Self.begin(of: response, attempts.kept, at: now)
        started = date.addingTimeInterval(-(now - begun).inSeconds)
        feature = request.sourceIdentifier?.shown(maxBytes: FeatureTable.maxNameBytes)
        error = outcome == .failure ? response.error?.name : nil
        self.metrics = Waits(
            total: metrics.totalTime, slot: metrics.admissionTime,
            authorisation: metrics.authorisationTime, backOff: metrics.backOffTime)
        number = metrics.load
        method = request.method.rawValue.shown(maxBytes: 16)
        let isInternal = metrics.isInternal || attempts.kept.contains(where: \.isInternal)
        let text = request[option: URLTemplate.self] ?? request.url.redactedText
        url = isInternal ? nil : text.shown(maxBytes: 320)
        status = response.statusCode
        bytes = (bytesDownloaded, bytesUploaded)
        self.attempts = attempts
    }

    /// When a load began that is reported now.
    ///
    /// The report comes some time after the end. A load with a whole response ended with its last
    /// attempt; another one may have ended in a wait after it.
    private static func begin(
        of response: DataLoaderResponse, _ attempts: [LiveAttempt], at now: Instant
    ) -> Instant {
        let total = Duration.zero - response.metrics.totalTime
        guard let first = attempts.first, let last = attempts.last else { return now + total }
        let earliest = last.ended + total
        if response.error?.isWholeResponse ?? true { return earliest }
        return max(earliest, min(first.begun, now + total))
    }

    /// Adds its members to the object that is open, with its number in the feed.
    func addMembers(to json: inout JSONWriter, number place: Int64) {
        json.member("number", place)
        json.member("load", number)
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
