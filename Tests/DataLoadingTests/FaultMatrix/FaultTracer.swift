// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoading

    /// Counts itself among the living as long as something keeps it.
    ///
    /// A request carries one, so that whatever keeps a copy shows; so do transport and delegate.
    final class FaultTracer: Sendable, RequestOption {
        static let defaultValue: FaultTracer? = nil
        static var staysWithOrigin: Bool { false }
        private static let alive = Locked(0)

        /// How many there are.
        static var count: Int { alive.withLock { $0 } }

        init() {
            Self.alive.withLock { $0 += 1 }
        }

        deinit {
            Self.alive.withLock { $0 -= 1 }
        }
    }

    /// Passes everything on to another transport, and keeps a tracer.
    struct TracedTransport: Transport {
        let next: any Transport
        let tracer: FaultTracer

        func start(_ attempt: TransportRequest, sink: any TransportSink) -> any TransportTask {
            next.start(attempt, sink: sink)
        }

        func reset() async { await next.reset() }

        func shutDown() async { await next.shutDown() }
    }
#endif
