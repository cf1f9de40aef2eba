// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Testing

    /// Where a load stands when it is cancelled, and who cancels it.
    struct CancelCase: Hashable, Sendable, CustomTestStringConvertible {
        enum Point: String, CaseIterable, Sendable {
            case queued, rateLimited, authorising, resolving, connecting, handshaking, writing
            case waitingForHead, midBody, paused, backingOff, insideCallback

            /// Whether the server has a connection that must be seen to close.
            var hasConnection: Bool {
                switch self {
                case .handshaking, .writing, .waitingForHead, .midBody, .paused, .insideCallback:
                    true
                case .queued, .rateLimited, .authorising, .resolving, .connecting, .backingOff:
                    false
                }
            }

            /// How many requests for it the server has seen by then.
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
