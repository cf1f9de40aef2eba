// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct LoadMachineTests {
    @Test(arguments: [MachineWorld.Form.whole, .askingPolicy, .chunks])
    func `two loads with one slot end once each, in every order of up to eight events`(
        form: MachineWorld.Form
    ) {
        explore(form, events: 8)
    }

    // More may happen to them, so that as many worlds are reached with fewer events.
    @Test(arguments: [MachineWorld.Form.cached, .cachedChunks, .sharing])
    func `two loads that are cached or shared end once each, in every order of six events`(
        form: MachineWorld.Form
    ) {
        explore(form, events: 6)
    }

    /// Worlds that continue in the same way are tried once.
    private func explore(_ form: MachineWorld.Form, events: Int) {
        let bed = TestBed()
        var world = MachineWorld(bed, form)
        defer { world.release() }
        world.begin()
        var frontier = [world]
        var seen: Set<String> = [world.digest]
        for _ in 0..<events {
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
