// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation

/// Writes the record of one connection; only the connection's thread uses it.
final class ConnectionLog {
    let number: Int
    private let recorder: Recorder
    private var hasEnded = false
    private(set) var hasClientEnded = false

    init(number: Int, recorder: Recorder) {
        self.number = number
        self.recorder = recorder
    }

    func received(_ count: Int) {
        update { $0.bytesReceived += Int64(count) }
    }

    func sent(_ count: Int) {
        update { $0.bytesSent += Int64(count) }
    }

    func foundMalformedHead(_ bytes: [UInt8]) {
        update { $0.malformedHead = Data(bytes) }
    }

    func clientEnded(_ ending: RecordedConnection.Ending) {
        guard !hasClientEnded else { return }
        hasClientEnded = true
        let now = recorder.now
        end {
            $0.clientEnded = now
            $0.clientEnding = ending
        }
    }

    func serverEnded() {
        let now = recorder.now
        end { $0.serverEnded = now }
    }

    private func end(_ change: (inout RecordedConnection) -> Void) {
        let isFirst = !hasEnded
        hasEnded = true
        recorder.record(reaching: isFirst ? .closedConnections : nil) {
            $0.connections.update(number, change)
        }
    }

    private func update(_ change: (inout RecordedConnection) -> Void) {
        recorder.record { $0.connections.update(number, change) }
    }
}

extension Recorder {
    /// Counts a connection and returns its number.
    func addConnection() -> Int {
        let now = now
        return record(reaching: .connections) { state in
            let number = state.connections.count
            state.connections.append(RecordedConnection(number: number, accepted: now))
            return number
        }
    }
}
