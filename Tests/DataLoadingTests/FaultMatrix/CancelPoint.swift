// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Testing

    /// The point at which a load is cancelled, and what cancels it.
    struct CancelCase: Hashable, Sendable, CustomTestStringConvertible {
        enum Point: String, CaseIterable, Sendable {
            case queued, rateLimited, authorising, resolving, connecting, handshaking, writing
            case waitingForHead, midBody, paused, backingOff, insideCallback

            /// Whether the server has a connection that must close.
            var hasConnection: Bool {
                switch self {
                case .handshaking, .writing, .waitingForHead, .midBody, .paused, .insideCallback:
                    true
                case .queued, .rateLimited, .authorising, .resolving, .connecting, .backingOff:
                    false
                }
            }

            /// The number of requests of the load that the server has seen by then.
            var requests: Int {
                switch self {
                case .queued, .rateLimited, .authorising, .resolving, .connecting, .handshaking: 0
                case .writing, .waitingForHead, .midBody, .paused, .backingOff, .insideCallback: 1
                }
            }

            var isInChunks: Bool { self == .midBody || self == .paused || self == .insideCallback }
        }

        enum Ender: String, CaseIterable, Sendable {
            case caller, loaderDeinit, serviceShutDown
        }

        let point: Point
        let ender: Ender

        static let all = Point.allCases.flatMap { point in
            Ender.allCases.map { CancelCase(point: point, ender: $0) }
        }

        var testDescription: String { "\(point.rawValue), by \(ender.rawValue)" }
    }
#endif
