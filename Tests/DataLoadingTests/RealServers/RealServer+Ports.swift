// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    extension RealServer {
        /// The ports of plain HTTP, of TLS and of the second server.
        struct Ports: Sendable {
            var plain: UInt16
            var secure: UInt16
            var behind: UInt16

            /// Three ports that were free just now.
            ///
            /// They are below those that the kernel gives to clients: a server that is killed must
            /// find its port free when it is started again, among thousands of connections.
            init() throws {
                var free: Set<UInt16> = []
                for _ in 0..<1_000 where free.count < 3 {
                    let port = UInt16.random(in: 10_000..<Self.firstOfClients)
                    if Self.isFree(port) { free.insert(port) }
                }
                let ports = Array(free)
                guard ports.count == 3 else { throw Failure(reason: "no port is free") }
                (plain, secure, behind) = (ports[0], ports[1], ports[2])
            }

            /// Starts a server on ports, and on others when it does not listen: another process may
            /// have taken one that was free.
            static func tried<Server>(_ start: (Ports) throws -> Server) throws -> Server {
                for _ in 0..<4 {
                    do {
                        return try start(Ports())
                    } catch let failure as Failure {
                        ChildReport.tell(failure.reason)
                    }
                }
                return try start(Ports())
            }

            private static let firstOfClients: UInt16 = {
                let file = "/proc/sys/net/ipv4/ip_local_port_range"
                let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                let first = text.split { $0.isWhitespace }.first.flatMap { UInt16($0) }
                return max(first ?? 32_768, 11_000)
            }()

            private static func isFree(_ port: UInt16) -> Bool {
                let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(socket) }
                return withLoopback(port) { bind(socket, $0, $1) } == 0
            }
        }

        /// Whether something listens on a port of 127.0.0.1.
        static func listens(_ port: UInt16) -> Bool {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            return withLoopback(port) { connect(socket, $0, $1) } == 0
        }

        private static func withLoopback(
            _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
