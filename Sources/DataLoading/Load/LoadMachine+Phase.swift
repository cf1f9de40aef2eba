// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Finds the phase of a load's error.
extension LoadMachine {
    /// The phase of a stage; nil where the stage says nothing about the error.
    func phase(of stage: State, _ error: DataLoaderError?) -> DataLoaderError.Phase? {
        guard let error, !error.isWholeResponse else { return nil }
        return switch stage {
        case .created, .askingForChunks: .preparing
        case .authorising: .authorising
        case .applying, .queued, .dialling: .waitingForSlot
        case .resting, .pausing: .backingOff
        case .running(let attempt): attempt.head == nil ? nil : .readingBody
        case .askingForBody: .deciding
        // A failure that was judged has its phase, or none.
        case .deciding: error.comesFromOutside ? .deciding : nil
        case .timingOut, .ended: nil
        }
    }
}

extension LoadFacts {
    /// The phase of an attempt without a head, by whether any of it may have been sent; nil when a
    /// body may have been partly sent.
    func phase(mayHaveSent: Bool) -> DataLoaderError.Phase? {
        guard mayHaveSent else { return .connecting }
        return outgoing.body == nil ? .waitingForHead : nil
    }
}

extension DataLoaderError {
    /// Whether the owner, the service or the deadline ended the load.
    fileprivate var comesFromOutside: Bool {
        switch kind {
        case .cancelled, .reset, .serviceInvalidated, .timedOut, .overloaded: true
        default: false
        }
    }
}
