// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

/// The priority of a request that loads share when some of them leave.
@Suite struct SharedPriorityTests {
    private func shared(_ priority: Priority) -> DataLoaderRequest {
        .make("/shared") {
            $0.coalescing = .sameRequest
            $0.priority = priority
        }
    }

    /// The paths in the order in which their attempts start, with one attempt at a time.
    private func order(_ bed: TestBed, of count: Int) async -> [String] {
        for index in 0..<count { await bed.attempt(index).respond(status: 200) }
        bed.settle()
        return bed.transport.attempts.map(\.request.url.path)
    }

    private func urgentLoadComesAndLeaves(_ bed: TestBed) {
        let urgent = bed.loader.perform(shared(.high))
        bed.settle()
        urgent.cancel()
        bed.settle()
    }

    @Test func `a shared request is no more urgent than the loads that still wait for it`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(shared(.low))
        bed.loader.perform(.make("/other"))
        bed.settle()
        bed.loader.perform(shared(.high)).cancel()
        urgentLoadComesAndLeaves(bed)
        #expect(await order(bed, of: 3) == ["/before", "/other", "/shared"])
        bed.expectNothingLeft()
    }

    @Test func `a redirect gives a request no priority of a load that has left`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(shared(.low))
        let urgent = bed.loader.perform(shared(.high))
        let first = await bed.attempt(0)
        bed.loader.perform(.make("/other"))
        bed.loader.perform(.make("/next"))
        bed.settle()
        first.sendHead(status: 302, headers: ["Location": "/moved"])
        bed.settle()
        urgent.cancel()
        bed.settle()
        first.end()
        for index in 1..<4 { await bed.attempt(index).respond(status: 200) }
        bed.settle()
        #expect(
            bed.transport.attempts.map(\.request.url.path)
                == ["/shared", "/other", "/next", "/moved"])
        bed.expectNothingLeft()
    }

    @Test func `a shared request has the highest priority of those that have stayed`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(.make("/low") { $0.priority = .low })
        bed.loader.perform(shared(.low))
        bed.loader.perform(shared(.normal))
        bed.settle()
        let urgent = bed.loader.perform(shared(.high))
        bed.settle()
        bed.loader.perform(.make("/high") { $0.priority = .high })
        urgent.cancel()
        bed.settle()
        #expect(await order(bed, of: 4) == ["/before", "/high", "/shared", "/low"])
        bed.expectNothingLeft()
    }

    @Test func `a shared request stays urgent while one of several urgent loads is left`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(.make("/other"))
        bed.loader.perform(shared(.low))
        bed.loader.perform(shared(.high))
        urgentLoadComesAndLeaves(bed)
        #expect(await order(bed, of: 3) == ["/before", "/shared", "/other"])
        bed.expectNothingLeft()
    }

    @Test func `an urgent load that comes and leaves costs a shared request no place`() async {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(.make("/first"))
        bed.loader.perform(shared(.normal))
        bed.loader.perform(.make("/last"))
        bed.settle()
        urgentLoadComesAndLeaves(bed)
        #expect(await order(bed, of: 4) == ["/before", "/first", "/shared", "/last"])
        bed.expectNothingLeft()
    }

    @Test func `a shared request that is sent again waits with the priority of those that stayed`()
        async
    {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(shared(.low))
        let urgent = bed.loader.perform(shared(.high))
        let first = await bed.attempt(0)
        bed.loader.perform(.make("/other"))
        bed.settle()
        urgent.cancel()
        first.give(.respond(status: 302, headers: ["Location": "/moved"]))
        await bed.attempt(1).respond(status: 200)
        await bed.attempt(2).respond(status: 200)
        bed.settle()
        let paths = bed.transport.attempts.map(\.request.url.path)
        // The slot was handed on before the redirected request asked for it.
        #expect(paths == ["/shared", "/other", "/moved"])
        bed.expectNothingLeft()
    }

    @Test func `the priority that a shared request is told last is that of those that wait`() async
    {
        let bed = TestBed { $0.limits.total = 1 }
        bed.loader.perform(.make("/before"))
        bed.loader.perform(shared(.low))
        bed.loader.perform(.make("/other"))
        bed.settle()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    bed.loader.perform(shared(index.isMultiple(of: 2) ? .high : .normal)).cancel()
                }
            }
        }
        bed.settle()
        #expect(await order(bed, of: 3) == ["/before", "/other", "/shared"])
        bed.expectNothingLeft()
    }
}
