// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a program that depends on the library costs to build, and the size of the program.
struct ClientBuilds: Measure {
    let options: Options

    static let number = 15

    func run() throws -> [Figure] {
        var samples = Samples()
        let packages = ClientPackage.all.filter { options.contestants.contains($0.contestant) }
        // Fetching what it depends on does not count.
        for package in packages { try package.write() }
        defer { for package in packages { package.remove() } }
        for _ in 0..<options.rounds {
            for package in packages {
                let name = package.contestant.rawValue
                let build = try package.build()
                samples.add(build.seconds, "s", of: name, c: 1)
                samples.add(build.processorTime, "s of processor time", of: name, c: 1)
                samples.add(build.size / 1_048_576, "MiB", of: name, c: 1)
                samples.add(build.strippedSize / 1_048_576, "MiB stripped", of: name, c: 1)
            }
        }
        return samples.figures(of: Self.number)
    }
}
