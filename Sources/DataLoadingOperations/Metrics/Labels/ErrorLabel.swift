// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

/// Why an attempt or a load failed: a kind of `DataLoaderError`, or a status.
///
/// It is made of closed lists only, never of a text that a server or a user chose.
struct ErrorLabel: Hashable, Sendable {
    private enum Value: Hashable, Sendable {
        case kind(ErrorName)
        case status(StatusLabel)
        case otherStatus
    }

    private let value: Value

    /// The label of a whole response's status; nil for one that is listed and below 400.
    init?(_ status: HTTPStatus) {
        if let known = StatusLabel(status) {
            guard known.code >= 400 else { return nil }
            value = .status(known)
        } else {
            value = .otherStatus
        }
    }

    /// The label of an error; nil when the program cancelled what ran, which is no failure.
    init?(_ error: DataLoaderError) {
        switch error.kind {
        case .cancelled: return nil
        case .status(let status): value = StatusLabel(status).map { .status($0) } ?? .otherStatus
        default:
            guard let name = error.kind.errorName else { return nil }
            value = .kind(name)
        }
    }

    var label: Label {
        switch value {
        case .kind(let name): Label("error.type", name.rawValue)
        case .status(let status): Label("error.type", String(status.code))
        case .otherStatus: Label("error.type", LabelNames.other)
        }
    }
}
