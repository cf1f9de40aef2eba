// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// What loads have in common that share one answer.
enum SharedLoadKey: Hashable, Sendable {
    case named(NameBytes)
    case same(SharedRequest)

    /// Makes the key of a request; nil when it cannot be shared.
    init?(_ request: DataLoaderRequest, _ target: RequestTarget) {
        switch request.coalescing {
        case .none: return nil
        case .key(let name): self = .named(NameBytes(name))
        case .sameRequest:
            guard let shared = SharedRequest(request, target) else { return nil }
            self = .same(shared)
        }
    }
}

/// The parts of a request that are the same for all loads that share its answer.
struct SharedRequest: Hashable, Sendable {
    private let method: HTTPMethod
    private let target: RequestTarget
    private let fields: SentFields
    private let body: Data?
    private let slotUse: SlotUse
    private let cachePolicy: CachePolicy
    private let followsRedirects: Bool
    private let maximumRetryCount: Int?
    private let waitsForConnectivity: Bool
    private let idleTimeout: Duration?

    /// Takes the parts of a request; nil when it has others, which cannot be compared, or must not
    /// be sent twice.
    fileprivate init?(_ request: DataLoaderRequest, _ target: RequestTarget) {
        guard request.mayBeSentTwice, request.retryPolicy == nil,
            !request.hasOptions(besides: Coalescing.self)
        else { return nil }
        switch request.body {
        case nil: body = nil
        case .data(let bytes)?, .encoded(let bytes, _)?: body = bytes
        case .file?, .multipart?, .stream?, .oneShot?: return nil
        }
        switch request.redirectPolicy {
        case .follow: followsRedirects = true
        case .doNotFollow: followsRedirects = false
        case .ask: return nil
        }
        method = request.method
        self.target = target
        fields = SentFields(request)
        slotUse = request.slotUse
        cachePolicy = request.cachePolicy
        maximumRetryCount = request.maximumRetryCount
        waitsForConnectivity = request.waitsForConnectivity
        idleTimeout = request.idleTimeout
    }
}

/// The fields with which a request is sent, compared by bytes as a server does.
///
/// Two credentials that are different spellings of one Unicode text are not the same.
private struct SentFields: Hashable, Sendable {
    private let headers: HTTPHeaders

    init(_ request: DataLoaderRequest) {
        var headers = request.headers
        // The media type of a body becomes a field when the load is made.
        if let type = request.body?.contentType, !headers.contains("Content-Type") {
            headers.add(type, for: "Content-Type")
        }
        self.headers = headers
    }

    static func == (left: SentFields, right: SentFields) -> Bool {
        left.headers.hasSameFields(as: right.headers)
    }

    /// Values with the same bytes are equal, and have the same hash.
    func hash(into hasher: inout Hasher) {
        hasher.combine(headers)
    }
}
