// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingSupport
import Foundation

/// Says in words whether a service is well.
struct ServiceSentence {
    private static let maxBytes = 1_000
    /// How many troubles of a kind are named.
    private static let maxNamed = 3

    private var parts: [String] = []
    /// How many things are not as they should be.
    private(set) var troubles = 0

    /// The sentences, in one line.
    var text: String { parts.joined(separator: " ").shown(maxBytes: Self.maxBytes) }

    init(_ service: ServiceSnapshot?, _ log: LogState?, _ features: [FeatureReport]) {
        guard let service else {
            parts = ["No service runs."]
            troubles = 1
            return
        }
        addStage(service, features)
        if service.stage == .open, let sharing = service.sharing {
            add([Self.lost(sharing)].compactMap(\.self), "")
        }
        add(service.rules.compactMap(Self.held), "are held by their servers too")
        add(service.rules.compactMap(Self.paused), "are paused too")
        add(service.addresses.compactMap(Self.leftOut), "are left out too")
        add(
            service.origins.filter(\.isFailing).map { "\($0.origin.hostText) cannot be reached." },
            "cannot be reached either")
        add(service.credentials.compactMap(Self.withoutCredential), "could not get one either")
        if service.waiting > 0, service.waiting >= service.queueCapacity / 2 {
            add(["\(service.waiting) of \(service.queueCapacity) loads that may wait do."], "")
        }
        add(features.compactMap(Self.failing), "have failures too")
        if service.cache?.refusesWrites == true {
            add(["The disk of the cache has refused a response."], "")
        }
        add([log?.trouble.map(Self.sentence)].compactMap(\.self), "")
        if troubles == 0, service.stage == .open { parts.append("Nothing is held or left out.") }
    }

    private mutating func addStage(_ service: ServiceSnapshot, _ features: [FeatureReport]) {
        switch service.stage {
        case .open:
            let busy = features.count(where: \.isBusy)
            switch (busy, features.isEmpty) {
            case (0, true): parts.append("No loads yet.")
            case (0, false): parts.append("No loads in the last 10 minutes.")
            case (1, _): parts.append("Serving 1 feature.")
            default: parts.append("Serving \(busy) features.")
            }
        case .closing:
            parts.append("The service is shutting down; loads left: \(service.liveLoads).")
            troubles += 1
        case .over:
            parts.append("The service is shut down.")
            troubles += 1
        }
    }

    private mutating func add(_ sentences: [String], _ others: String) {
        parts += sentences.prefix(Self.maxNamed)
        if sentences.count > Self.maxNamed {
            parts.append("\(sentences.count - Self.maxNamed) \(others).")
        }
        troubles += sentences.count
    }

    private static func lost(_ sharing: SharingState) -> String? {
        switch sharing.source {
        case .store where sharing.refused > 0:
            "The store of shared rates refuses slots of \(sharing.refused) hosts or parts."
        case .store: nil
        case .ownShare:
            "The store of shared rates does not answer; this daemon uses its share, "
                + "1/\(sharing.known)."
        case .none: "The store of shared rates does not answer; loads with a rate wait."
        }
    }

    private static func held(_ rule: RuleState) -> String? {
        rule.gateRemaining.map {
            "\(rule.text) is held by the server for \($0.wholeSecondsText) (Retry-After)."
        }
    }

    private static func paused(_ rule: RuleState) -> String? {
        rule.requestsPerSecond == 0 ? "\(rule.text) is paused." : nil
    }

    private static func leftOut(_ address: AddressState) -> String? {
        guard address.condition == .ejected else { return nil }
        let time = address.ejectionRemaining.map { " for \($0.wholeSecondsText)" } ?? ""
        let reason = address.lastFailure.map { " (\($0))" } ?? ""
        return "\(address.address.shown(maxBytes: 80)) is left out\(time)\(reason)."
    }

    private static func withoutCredential(_ credential: CredentialState) -> String? {
        guard credential.hasFailed, !credential.isUsable else { return nil }
        let reason = credential.lastFailure.map { " (\($0.shown(maxBytes: 80)))" } ?? ""
        return "\(credential.authoriser.shown(maxBytes: 80)) could not get a credential\(reason)."
    }

    private static func sentence(_ trouble: LogTrouble) -> String {
        switch trouble {
        case .writing: "The log cannot be written, and loses lines."
        case .reopening: "The log's file cannot be opened again; lines go to the one before."
        }
    }

    /// A feature of whose loads of the last minute a tenth or more failed.
    private static func failing(_ feature: FeatureReport) -> String? {
        let minute = feature.minute
        let ended = minute.loads - minute.cancelled
        guard minute.failures > 0, minute.failures * 10 >= ended else { return nil }
        let name = feature.name?.shown(maxBytes: 80) ?? "Loads without a name"
        let error = feature.lastFailure.map { " (\($0.error))" } ?? ""
        return "\(name): \(minute.failures) of \(ended) loads failed in the last minute\(error)."
    }
}

extension RuleState {
    fileprivate var text: String {
        origin.hostText + (pathComponent.map { "/" + $0.shown(maxBytes: 40) } ?? "")
    }
}

extension String {
    /// An origin without its scheme.
    fileprivate var hostText: String {
        let host = range(of: "://").map { self[$0.upperBound...] } ?? self[...]
        return String(host).shown(maxBytes: 80)
    }
}

extension Duration {
    /// The seconds, rounded up: what is left of a wait is never "0 s".
    fileprivate var wholeSecondsText: String {
        let (seconds, rest) = components
        return "\(rest > 0 ? seconds.addingReportingOverflow(1).partialValue : seconds) s"
    }
}
