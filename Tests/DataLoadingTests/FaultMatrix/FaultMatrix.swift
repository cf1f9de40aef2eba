// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation
    import Testing

    extension SocketTests {
        /// Every fault of a server in every kind of load, checked against eight invariants.
        ///
        /// I1 one last call · I2 in time · I3 the right error · I4 the right number of attempts
        /// and requests · I5 only expected bytes, success only if complete · I6 nothing left
        /// behind · I7 bounded memory · I8 no secret in any text. I1 to I5 and I8 are checked for
        /// each cell, I6 and I7 for all cells of a fault together, which run side by side.
        @Suite struct FaultMatrix {
            @Test(.timeLimit(.minutes(15)))
            func `every fault ends as the table says in every kind of load`() async {
                // In a process of its own: descriptors, threads and memory are the matrix's.
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) {
                    let report = await FaultTable.run(FaultTable.chosen).text + "\n"
                    try FileHandle.standardOutput.write(contentsOf: Data(report.utf8))
                }
                let report = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
                print(report)
                let totals = report.split(separator: "\n").last { $0.hasPrefix("fault matrix: ") }
                #expect(totals?.hasSuffix(" cells, 0 violations") == true)
            }
        }
    }
#endif
