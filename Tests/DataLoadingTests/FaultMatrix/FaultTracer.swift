// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingSupport
    import DataLoading

    /// Counts the tracers that exist.
    ///
    /// A request contains one, so that a retained copy is detected; so do transport and delegate.
    final class FaultTracer: Sendable, RequestOption {
        static let defaultValue: FaultTracer? = nil
        static var staysWithOrigin: Bool { false }
        private static let alive = Locked(0)

        /// The number of existing tracers.
        static var count: Int { alive.withLock { $0 } }

        init() {
            Self.alive.withLock { $0 += 1 }
        }

        deinit {
            Self.alive.withLock { $0 -= 1 }
        }
    }

    /// Forwards everything to another transport and keeps a tracer.
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
