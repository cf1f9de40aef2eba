// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// Tells the daemon's board what every load has cost.
final class BoardObserver: ConsumptionObserver {
    private let wire: Wire

    init(wire: Wire) {
        self.wire = wire
    }

    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        var response = response
        // The board counts; it has no use for what was loaded.
        response.body = nil
        wire.send(.ended(response, down: bytesDownloaded, up: bytesUploaded))
    }
}

extension ConsumptionLogger {
    /// Makes the logger that the command line asks for.
    convenience init(_ log: Arguments.Log) {
        switch log {
        case .text: self.init(format: .text)
        case .json: self.init(format: .json)
        }
    }
}
