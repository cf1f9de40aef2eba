// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingAuth
import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// A store whose reading and writing end when the test says so.
final class HeldStore: PlainStore {
    let kept = Locked<OAuthCredentials?>(nil)
    let loads = HeldFetch<OAuthCredentials?>()
    let saves = EventRecorder<OAuthCredentials?>()
    private let holdsLoads: Locked<Bool>
    private let holdsSaves: Locked<Bool>
    private let writable = EventRecorder<Void>()

    init(_ credentials: OAuthCredentials? = nil, holdsLoads: Bool = false, holdsSaves: Bool = false)
    {
        kept.withLock { $0 = credentials }
        self.holdsLoads = Locked(holdsLoads)
        self.holdsSaves = Locked(holdsSaves)
    }

    /// Lets everything through from now on; a load that is held has to be answered.
    func letGo() {
        holdsLoads.withLock { $0 = false }
        holdsSaves.withLock { $0 = false }
        writable.record(())
    }

    func load() async throws -> OAuthCredentials? {
        guard holdsLoads.withLock({ $0 }) else { return kept.withLock { $0 } }
        return try await loads(nil)
    }

    func write(_ credentials: OAuthCredentials?) async {
        saves.record(credentials)
        if holdsSaves.withLock({ $0 }) { _ = await writable.first(1) }
        kept.withLock { $0 = credentials }
    }
}
