// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// The first malformed setting of each part of a configuration.
///
/// A malformed setting is neither corrected nor ignored: every load of the service ends with its
/// error before anything is sent, and `Configuration.validate()` throws it.
extension DataLoaderService.Configuration {
    var fault: DataLoaderError? {
        timeouts.fault ?? limits.fault ?? retry.fault
            ?? (proxyAuthoriser != nil && proxy == nil
                ? .malformed("Configuration.proxyAuthoriser", "is set without a proxy") : nil)
            ?? (LoopCount.range.contains(loops)
                ? nil : .malformed("Configuration.loops", "is not from 1 to 64"))
    }
}

extension Timeouts {
    var fault: DataLoaderError? {
        let limits = [("connect", connect), ("idle", idle), ("total", total ?? .seconds(1))]
        let malformed = limits.first { $0.1 <= .zero }
        return malformed.map { .malformed("Timeouts.\($0.0)", "is not above zero") }
    }
}

extension Limits {
    var fault: DataLoaderError? {
        let slots = [
            ("perOrigin", perOrigin), ("total", total), ("streamsPerOrigin", streamsPerOrigin),
            ("streams", streams),
        ]
        if let malformed = slots.first(where: { !Self.slotRange.contains($0.1) }) {
            return .malformed("Limits.\(malformed.0)", "is not from 1 to 1,000,000")
        }
        if queue < 0 { return .malformed("Limits.queue", "is below zero") }
        if body < 0 { return .malformed("Limits.body", "is below zero") }
        return head < 1 ? .malformed("Limits.head", "is below one") : nil
    }
}
