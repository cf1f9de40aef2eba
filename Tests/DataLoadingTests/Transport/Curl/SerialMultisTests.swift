// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoading
    import DataLoadingTesting
    import Testing

    /// The handles for HTTP/1.1: which of them takes an attempt.
    @Suite struct SerialMultisTests {
        private final class Handle: TransferHolder {
            var transfers = 0
            var lastUse: Int64 = 0
        }

        private typealias Handles = SerialMultis<Handle>

        private static let here = OriginSeatsTests.origin(1)
        private static let there = OriginSeatsTests.origin(2)

        /// Begins a transfer on a handle, and adds one where it is needed.
        private static func begin(_ handles: inout Handles, _ origin: Origin? = here) -> Handle {
            let handle = handles.take(for: origin) ?? add(&handles)
            handle.transfers += 1
            return handle
        }

        private static func add(_ handles: inout Handles, idle: [Origin] = []) -> Handle {
            let handle = Handle()
            handles.add(handle, idle: idle)
            return handle
        }

        private static func end(_ handle: Handle, _ handles: inout Handles, _ origin: Origin = here)
        {
            handle.transfers -= 1
            handles.noteIdle(handle, to: origin)
        }

        @Test func `no handle is added before one is full, and none takes more than fit`() {
            var handles = Handles(capacity: 8)
            for number in 0..<(3 * handles.capacity) {
                _ = Self.begin(&handles)
                #expect(handles.all.count == number / handles.capacity + 1)
            }
            #expect(handles.all.allSatisfy { $0.transfers == handles.capacity })
        }

        @Test func `an attempt goes to the handle that has an idle connection to its origin`() {
            var handles = Handles(capacity: 8)
            let begun = (0..<(2 * handles.capacity)).map { _ in Self.begin(&handles) }
            let last = handles.all[1]
            Self.end(begun[0], &handles, Self.there)
            Self.end(last, &handles)
            #expect(Self.begin(&handles) === last)
            // There is none to here any more, and room in the first one only.
            #expect(Self.begin(&handles) === begun[0])
            #expect(handles.notes == 1)
        }

        @Test func `an attempt on a new connection leaves the idle ones to others`() {
            var handles = Handles(capacity: 8)
            let begun = (0..<(2 * handles.capacity)).map { _ in Self.begin(&handles) }
            Self.end(handles.all[1], &handles)
            begun[0].transfers -= 1
            #expect(handles.take(for: nil) === begun[0])
            #expect(handles.take(for: Self.here) === handles.all[1])
        }

        @Test
        func `the idle connections of the first handle are known to the second one's attempts`() {
            var handles = Handles(capacity: 8)
            let first = Self.add(&handles)
            first.transfers = handles.capacity
            _ = Self.add(&handles, idle: [Self.there, Self.there])
            #expect(handles.notes == 2)
            #expect(handles.take(for: Self.there) === first)
            #expect(handles.take(for: Self.here) === handles.all[1])
        }

        @Test func `nothing is noted while there is one handle`() {
            var handles = Handles(capacity: 8)
            let handle = Self.begin(&handles)
            Self.end(handle, &handles)
            #expect(handles.notes == 0)
            #expect(handles.take(for: Self.here) === handle)
        }

        @Test func `handles that were not used for a while are removed, but for one`() {
            var handles = Handles(capacity: 8)
            let three = (0..<3).map { _ in Self.add(&handles) }
            for handle in three { handles.noteIdle(handle, to: Self.here) }
            three[1].lastUse = 5
            three[2].transfers = 1
            #expect(
                handles.removeUnused(since: 5).map(ObjectIdentifier.init) == [
                    ObjectIdentifier(three[0])
                ])
            #expect(handles.notes == 2)
            #expect(handles.take(for: Self.here) === three[2])
            three[2].transfers = 0
            #expect(handles.removeUnused(since: 6).count == 1)
            #expect(handles.all.count == 1 && handles.notes == 0)
            #expect(handles.removeUnused(since: .max).isEmpty)
        }

        @Test func `what is noted is bounded, however many origins there are`() {
            var handles = Handles(capacity: 8)
            let handle = Self.add(&handles)
            _ = Self.add(&handles)
            for number in 0..<(2 * Handles.noteLimit) {
                handles.noteIdle(handle, to: OriginSeatsTests.origin(number))
            }
            #expect(handles.notes <= Handles.noteLimit)
        }

        @Test(arguments: 0..<20)
        func `an attempt finds an idle connection whenever there is one, in any order`(seed: UInt64)
        {
            var generator = SeededGenerator(seed: seed)
            var handles = Handles(capacity: 8)
            var running: [(Handle, Origin)] = []
            // The idle connections of each handle, which a test knows exactly.
            var idle: [Origin: [ObjectIdentifier: Int]] = [:]
            for _ in 0..<5_000 {
                let origin = Bool.random(using: &generator) ? Self.here : Self.there
                if Int.random(in: 0..<10, using: &generator) < 5 || running.isEmpty {
                    let all = idle[origin, default: [:]].values.reduce(0, +)
                    let handle = Self.begin(&handles, origin)
                    let name = ObjectIdentifier(handle)
                    if handles.isSplit {
                        #expect(all == 0 || idle[origin]?[name] ?? 0 > 0)
                    }
                    if idle[origin]?[name] ?? 0 > 0 { idle[origin]?[name]? -= 1 }
                    running.append((handle, origin))
                } else {
                    let (handle, origin) = running.remove(
                        at: Int.random(in: running.indices, using: &generator))
                    // What is idle before there is a second handle is told by the loop.
                    if handles.isSplit {
                        idle[origin, default: [:]][ObjectIdentifier(handle), default: 0] += 1
                    }
                    Self.end(handle, &handles, origin)
                }
            }
        }
    }
#endif
