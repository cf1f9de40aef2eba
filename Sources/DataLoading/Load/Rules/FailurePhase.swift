// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension DataLoaderError.Phase {
    /// The phase in which an attempt failed; nil when its failure does not show it.
    init?(_ failure: TransportFailure, of request: DataLoaderRequest) {
        switch failure.error.kind {
        case .requestBody: self = .sending
        case .invalidRequest, .unsupported, .resources, .cancelled, .serviceInvalidated: return nil
        case .dns, .proxy(.dns): self = .resolving
        case .connectRefused, .connectTimeout, .privateAddress, .proxy: self = .connecting
        case .tls, .certificate, .pin: self = .securing
        default: self.init(failure.sent, failure.report.bodyBytesSent, of: request)
        }
    }

    /// The phase by the amount that was sent; nil when the length of the body is not known.
    private init?(_ sent: SentState, _ bodyBytesSent: Int64, of request: DataLoaderRequest) {
        switch sent {
        case .nothingWritten: self = .connecting
        case .headReceived: self = .readingBody
        case .written:
            guard let body = request.body else {
                self = .waitingForHead
                return
            }
            guard let bytes = body.bytes else { return nil }
            self = bodyBytesSent >= Int64(bytes.count) ? .waitingForHead : .sending
        }
    }
}

extension DataLoaderError {
    /// Whether the owner, the service or the deadline ended the load.
    var comesFromOutside: Bool {
        switch kind {
        case .cancelled, .reset, .serviceInvalidated, .timedOut, .overloaded: true
        default: false
        }
    }
}
