// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import DataLoadingTransport
public import Foundation

/// The limits of simultaneous attempts, which may be changed while loads run and wait.
///
/// ```swift
/// try service.slots.setMaximum(4, forHostOf: url)
/// try service.slots.setMaximum(2, of: .stream, forHostOf: url)
/// ```
/// A host here is an origin: scheme, host and port. The limits begin with those of
/// `Configuration.limits`. A higher limit starts waiting loads at once. A lower one ends no
/// attempt: others start when enough have ended. Any thread may call.
public final class ConnectionSlots: Sendable {
    private let admission: Admission

    init(_ admission: Admission) {
        self.admission = admission
    }

    /// The maximum number of simultaneous attempts to a URL's host.
    ///
    /// - Throws: `.invalidConfiguration` when the URL is not http or https.
    public func maximum(
        of use: SlotUse = .shared, forHostOf url: URL
    ) throws(DataLoaderError) -> Int {
        admission.maximum(of: use, for: try Self.origin(of: url))
    }

    /// Sets the maximum number of simultaneous attempts to a URL's host.
    ///
    /// - Parameters:
    ///   - maximum: From 1 to 1,000,000; nil for the limit of `Configuration.limits`.
    ///   - use: The kind of slot that the limit is for.
    ///   - url: Any URL of the host; its path and query are ignored.
    /// - Throws: `.invalidConfiguration` for another number, or when the URL is not http or https.
    ///   Nothing has changed then.
    public func setMaximum(
        _ maximum: Int?, of use: SlotUse = .shared, forHostOf url: URL
    ) throws(DataLoaderError) {
        let origin = try Self.origin(of: url)
        if let maximum { try Self.check(maximum) }
        admission.setMaximum(maximum, of: use, for: origin)
    }

    /// The maximum number of simultaneous attempts in total.
    public func total(of use: SlotUse = .shared) -> Int { admission.total(of: use) }

    /// Sets the maximum number of simultaneous attempts in total, from 1 to 1,000,000.
    ///
    /// - Throws: `.invalidConfiguration` for another number. Nothing has changed then.
    public func setTotal(
        _ total: Int, of use: SlotUse = .shared
    ) throws(DataLoaderError) {
        try Self.check(total)
        admission.setTotal(total, of: use)
    }

    private static func check(_ limit: Int) throws(DataLoaderError) {
        guard Limits.slotRange.contains(limit) else {
            throw .invalidConfiguration(
                reason: "ConnectionSlots: a limit is not from 1 to 1,000,000")
        }
    }

    private static func origin(of url: URL) throws(DataLoaderError) -> Origin {
        guard let target = try? RequestTarget(url) else {
            throw .invalidConfiguration(
                reason: "ConnectionSlots: a limit was set for what is no http or https URL")
        }
        return target.origin
    }
}
