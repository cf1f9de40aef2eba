// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation

    /// What stands at the other end in one cell, and how the load is set up for it.
    struct FaultScene: Sendable {
        static let host = "origin.test"

        /// What the server does with its connections.
        var script: LoopbackScript
        /// How the server speaks TLS in cells of https.
        var tls = LoopbackTLS.Behaviour()
        /// The identity that the server shows.
        var identity = TestIdentity.Kind.good
        /// The bytes that the server means to send as the body.
        var meant = MeantBody.bytes(Data())
        /// The target of the request, to which the secret is added.
        var target = "/fault"
        var body = Data("the body of a request".utf8)
        var timeouts = FaultScene.patient
        /// The deadline of the load.
        var deadline = Duration.seconds(8)
        /// Addresses for the host, in front of its name; "PORT" stands for the server's.
        var addresses: [String] = []
        /// Pins for the host; nil for none.
        var pins: [String]?
        /// Where the request goes; nil for the server.
        var port: UInt16?
        /// Whether the server speaks TLS; nil for as the cell does.
        var serverIsSecure: Bool?
        /// What the host's name leads to.
        var lookup: @Sendable (String) -> NameAnswer = { _ in .addresses(["127.0.0.1"]) }
        /// Whether a load on a used connection may find it closed already.
        var mayReconnect = false
        /// Whether connections are closed after answers that do not say so.
        var closesUnsaid = false
        /// Called once the warm-up, if there is one, is over.
        var prepare: @Sendable (LoopbackServer) throws -> Void = { _ in }
        /// Called when the load has ended, before anything is taken down.
        var finish: @Sendable () -> Void = {}
        /// How many requests came, where the server keeps no records of them.
        var requestCount: (@Sendable () -> Int)?
        /// Whatever else must be true; the words say what is not.
        var check: @Sendable (FaultObservation) -> String? = { _ in nil }

        /// Limits that no machine is too busy for.
        static let patient: Timeouts = {
            var timeouts = Timeouts()
            timeouts.connect = .seconds(6)
            timeouts.idle = .seconds(6)
            return timeouts
        }()

        /// Whether a machine that does something else meanwhile may overstep its limits.
        var isHasty: Bool {
            min(timeouts.connect, timeouts.idle, deadline) < .seconds(5)
        }

        /// The same with so many times the time, where its limits for a connection are short.
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

        /// A server that answers every request alike, but for the one that opens the connection.
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

        /// The same with a short limit for silence.
        func impatient(_ idle: Duration = .milliseconds(250)) -> FaultScene {
            with { $0.timeouts.idle = idle }
        }
    }

    /// The body that a server means to send.
    enum MeantBody: Sendable {
        case bytes(Data)
        case zeros(Int64)

        var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .zeros(let count): count
            }
        }

        /// Whether these bytes stand at that place.
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
                    // Every byte is as the one before it.
                    return bytes[0] == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
                }
            }
        }
    }
#endif
