// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// What the dashboard shows at an instant, as JSON.
struct LiveSnapshot {
    static let maxBytes = 16_384
    /// How many entries a list may have, from the most to none, until everything fits.
    private static let limits = [64, 48, 33, 24, 16, 12, 8, 4, 2, 1, 0]

    let date: Date
    let uptime: Duration
    let second: Int64
    let service: ServiceSnapshot?
    let log: LogState?
    let features: [String?: FeatureFigures]
    let totals: LiveTotals

    /// One object in one line; lists lose their last entries where it would be too long, and say how
    /// many.
    var json: [UInt8] {
        let features = FeatureReport.all(of: features, at: second)
        let sentence = ServiceSentence(service, log, features)
        var bytes: [UInt8] = []
        for limit in Self.limits {
            bytes = json(sentence, features, limit: limit)
            if bytes.count <= Self.maxBytes { break }
        }
        return bytes
    }

    private func json(
        _ sentence: ServiceSentence, _ features: [FeatureReport], limit: Int
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("time", (date.timeIntervalSince1970 * 1_000).rounded() / 1_000)
            json.member("uptime", seconds: uptime)
            json.member("sentence", sentence.text)
            json.member("troubles", sentence.troubles)
            if let service {
                json.key("service")
                json.object { service.addMembers(to: &$0, maxEntries: limit) }
            }
            json.key("totals")
            json.object { json in
                totals.addMembers(to: &json, at: second)
                json.member("logLinesDropped", log?.dropped)
            }
            json.key("features")
            json.array(of: features.prefix(limit)) { json, feature in
                json.object { feature.addMembers(to: &$0, now: date) }
            }
            json.member("otherFeatures", max(0, features.count - limit))
        }
        return json.bytes
    }
}
