// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    @testable import DataLoadingCurl
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    /// Writes the resource use of the process to a file once a minute while a scene runs.
    final class SceneFigures: Sendable {
        private let over = DispatchSemaphore(value: 0)

        /// Nil unless figures are wanted.
        init?(_ kind: RealServer.Kind, _ ledger: SceneLedger) {
            guard let path = SceneSettings.figures else { return nil }
            let begun = ContinuousClock.now
            Thread { [over] in
                while over.wait(timeout: .now() + .seconds(60)) == .timedOut {
                    let tally = ledger.tally
                    let seconds = (ContinuousClock.now - begun).components.seconds
                    Self.append(
                        "\(kind) \(seconds) s: \(ProcessFigures.residentBytes >> 10) KiB, "
                            + "\(SocketFootprint()), \(tally.performed) loads, "
                            + "\(tally.posts.count) POSTs; faults: \(tally.wrong)\n",
                        to: path)
                }
            }.start()
        }

        func stop() {
            over.signal()
        }

        /// One write at the end of the file, so that several processes can share it.
        private static func append(_ line: String, to path: String) {
            guard let file = fopen(path, "a") else { return }
            fputs(line, file)
            fclose(file)
        }
    }
#endif
