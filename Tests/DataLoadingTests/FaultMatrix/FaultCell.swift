// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// One way to meet a fault: the kind of the load and of its connection.
    struct FaultCell: Hashable, Sendable, CustomStringConvertible {
        enum Mode: String, CaseIterable, Sendable { case whole, chunks }
        enum Method: String, CaseIterable, Sendable { case get = "GET", post = "POST" }
        enum Scheme: String, CaseIterable, Sendable { case http, https }
        enum Connection: String, CaseIterable, Sendable { case first, reused }

        var mode: Mode
        var method: Method
        var scheme: Scheme
        var connection: Connection

        var isWhole: Bool { mode == .whole }
        var isPost: Bool { method == .post }
        var isSecure: Bool { scheme == .https }
        var isReused: Bool { connection == .reused }

        var description: String {
            "\(mode.rawValue) \(method.rawValue) \(scheme.rawValue) \(connection.rawValue)"
        }
    }

    /// The cells to which a fault applies.
    struct FaultAxes: Sendable {
        var modes = FaultCell.Mode.allCases
        var methods = FaultCell.Method.allCases
        var schemes = FaultCell.Scheme.allCases
        var connections = FaultCell.Connection.allCases

        static let all = FaultAxes()
        static let firstOnly = FaultAxes(connections: [.first])
        static let reusedOnly = FaultAxes(connections: [.reused])
        static let secureOnly = FaultAxes(schemes: [.https])
        static let secureFirst = FaultAxes(schemes: [.https], connections: [.first])
        static let plainFirst = FaultAxes(schemes: [.http], connections: [.first])

        var cells: [FaultCell] {
            modes.flatMap { mode in
                methods.flatMap { method in
                    schemes.flatMap { scheme in
                        connections.map { connection in
                            FaultCell(
                                mode: mode, method: method, scheme: scheme, connection: connection)
                        }
                    }
                }
            }
        }
    }
#endif
