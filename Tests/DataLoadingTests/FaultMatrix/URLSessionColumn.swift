// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    import Foundation
    import Testing

    extension SocketTests {
        /// For comparison: the outcomes of the faults with plain URLSession, if
        /// DATALOADING_URLSESSION=1 is set.
        ///
        /// GET over plain HTTP on a new connection. Each fault has a process of its own, because
        /// it may crash the process.
        @Suite(.enabled(if: URLSessionProbe.environment["DATALOADING_URLSESSION"] == "1"))
        struct URLSessionColumn {
            @Test func `the outcomes of plain URLSession are listed beside the table`() throws {
                var lines: [String] = []
                for (index, fault) in FaultTable.all.enumerated()
                where URLSessionProbe.suits(fault) {
                    let expected = fault.expectation(URLSessionProbe.cell).kinds.sorted()
                    let seen = try Self.run(index)
                    lines.append(
                        "\(fault.number)  \(fault.title): \(expected.joined(separator: " or ")); "
                            + "URLSession: \(seen)")
                }
                print(lines.joined(separator: "\n"))
                #expect(!lines.isEmpty)
            }

            private static func run(_ index: Int) throws -> String {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
                    .resolvingSymlinksInPath()
                process.arguments = [
                    "--filter", "URLSessionChild", "--testing-library", "swift-testing",
                ]
                process.environment = URLSessionProbe.environment.merging([
                    URLSessionProbe.variable: "\(index)", "SWIFT_BACKTRACE": "enable=no",
                ]) { $1 }
                let output = Pipe()
                process.standardOutput = output
                process.standardError = FileHandle.nullDevice
                try process.run()
                let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                let text = String(decoding: bytes, as: UTF8.self)
                let line = text.split(separator: "\n").first { $0.hasPrefix(URLSessionProbe.mark) }
                if let line { return String(line.dropFirst(URLSessionProbe.mark.count)) }
                return "the process ended by signal \(process.terminationStatus)"
            }
        }

        /// One fault of the comparison.
        @Suite(.enabled(if: URLSessionProbe.environment[URLSessionProbe.variable] != nil))
        struct URLSessionChild {
            @Test func `plain URLSession ends the chosen fault with some outcome`() throws {
                let index = URLSessionProbe.environment[URLSessionProbe.variable].flatMap(Int.init)
                let fault = FaultTable.all[try #require(index)]
                let outcome = try URLSessionProbe.outcome(of: fault)
                print(URLSessionProbe.mark + outcome)
                #expect(!outcome.isEmpty)
            }
        }
    }
#endif
