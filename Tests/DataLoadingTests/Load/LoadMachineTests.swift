// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct LoadMachineTests {
    /// Worlds that go on in the same way are tried once.
    @Test(arguments: MachineWorld.Form.allCases)
    func `two loads with one slot end once each, in every order of up to eight events`(
        form: MachineWorld.Form
    ) {
        let bed = TestBed()
        var world = MachineWorld(bed, form)
        defer { world.release() }
        world.begin()
        var frontier = [world]
        var seen: Set<String> = [world.digest]
        for _ in 0..<8 {
            var next: [MachineWorld] = []
            for world in frontier {
                for index in 0..<2 {
                    for step in world.steps(index) {
                        var changed = world
                        changed.take(step, index)
                        guard seen.insert(changed.digest).inserted else { continue }
                        var ended = changed
                        let faults = ended.finish()
                        guard faults.isEmpty else {
                            Issue.record(
                                "\(step) of load \(index) after \(world.digest): \(faults)")
                            return
                        }
                        next.append(changed)
                    }
                }
            }
            frontier = next
        }
        #expect(seen.count > 1_000)
    }
}
