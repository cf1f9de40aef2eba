// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    /// The server of one cell and the settings of its load.
    struct FaultScene: Sendable {
        static let host = "origin.test"

        /// What the server does with its connections.
        var script: LoopbackScript
        /// How the server speaks TLS in https cells.
        var tls = LoopbackTLS.Behaviour()
        /// The identity that the server shows.
        var identity = TestIdentity.Kind.good
        /// The body that the server intends to send.
        var meant = MeantBody.bytes(Data())
        /// The target of the request; the secret is added to it.
        var target = "/fault"
        var body = Data("the body of a request".utf8)
        var timeouts = FaultScene.patient
        /// The deadline of the load.
        var deadline = Duration.seconds(8)
        /// Addresses of the host, before its name; "PORT" is replaced by the server's port.
        var addresses: [String] = []
        /// Pins for the host; nil for none.
        var pins: [String]?
        /// The port of the request; nil for the server's.
        var port: UInt16?
        /// Whether the server speaks TLS; nil for the cell's choice.
        var serverIsSecure: Bool?
        /// The addresses that the host's name resolves to.
        var lookup: @Sendable (String) -> NameAnswer = { _ in .addresses(["127.0.0.1"]) }
        /// Whether a load on a used connection may find it closed.
        var mayReconnect = false
        /// Whether connections close after responses that do not say so.
        var closesUnsaid = false
        /// Called after the warm-up, if there is one.
        var prepare: @Sendable (LoopbackServer) throws -> Void = { _ in }
        /// Called when the load has ended, before anything is stopped.
        var finish: @Sendable () -> Void = {}
        /// The number of requests, where the server records none.
        var requestCount: (@Sendable () -> Int)?
        /// Additional conditions; returns what is wrong.
        var check: @Sendable (FaultObservation) -> String? = { _ in nil }

        /// Limits that suit any machine.
        static let patient: Timeouts = {
            var timeouts = Timeouts()
            timeouts.connect = .seconds(6)
            timeouts.idle = .seconds(6)
            return timeouts
        }()

        /// Whether a busy machine may exceed the limits of the scene.
        var isHasty: Bool {
            min(timeouts.connect, timeouts.idle, deadline) < .seconds(5)
        }

        /// The same scene with longer limits, where its limits for a connection are short.
        func at(_ pace: Int) -> FaultScene {
            guard pace > 1, min(timeouts.connect, timeouts.idle) < .seconds(1) else { return self }
            return with {
                $0.timeouts.connect *= pace
                $0.timeouts.idle *= pace
                $0.deadline *= pace
            }
        }

        init(script: LoopbackScript) {
            self.script = script
        }

        /// A server that answers every request alike, except the one that opens the connection.
        static func answering(
            _ response: LoopbackResponse, meant: String = ""
        ) -> FaultScene {
            serving(meant) { _ in response }
        }

        static func serving(
            _ meant: String = "", _ answer: @escaping LoopbackHandler.Answer
        ) -> FaultScene {
            var scene = FaultScene(script: .serve(handler(answer)))
            scene.meant = .bytes(Data(meant.utf8))
            return scene
        }

        static func handler(_ answer: @escaping LoopbackHandler.Answer) -> LoopbackHandler {
            LoopbackHandler { $0.path == warmPath ? .ok("warm") : answer($0) }
        }

        static let warmPath = "/warm"

        func with(_ change: (inout FaultScene) -> Void) -> FaultScene {
            var changed = self
            change(&changed)
            return changed
        }

        /// The same scene with a short idle limit.
        func impatient(_ idle: Duration = .milliseconds(250)) -> FaultScene {
            with { $0.timeouts.idle = idle }
        }
    }

    /// The body that a server intends to send.
    enum MeantBody: Sendable {
        case bytes(Data)
        case zeros(Int64)

        var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .zeros(let count): count
            }
        }

        /// Whether the body has these bytes at the offset.
        func has(_ data: Data, at offset: Int64) -> Bool {
            guard offset + Int64(data.count) <= count else { return false }
            switch self {
            case .bytes(let bytes):
                let start = bytes.startIndex + Int(offset)
                return bytes[start..<(start + data.count)] == data
            case .zeros:
                return data.withUnsafeBytes { bytes in
                    guard let start = bytes.baseAddress, bytes.count > 1 else {
                        return bytes.allSatisfy { $0 == 0 }
                    }
                    // Every byte equals the one before it.
                    return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
                }
            }
        }
    }
#endif
