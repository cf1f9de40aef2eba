// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension TransferRun.Outcome {
    /// Adds what a client took.
    func add(to samples: inout Samples, _ contestant: Contestant, _ scene: String?, c: Int) {
        let name = contestant.rawValue
        samples.add(throughput / 1e6, "MB/s", of: name, scene: scene, c: c)
        samples.add(cost, "ms/MiB", of: name, scene: scene, c: c)
        samples.add(growth, "MiB grown", of: name, scene: scene, c: c)
    }
}
