// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    import DataLoadingTesting
    import Testing

    /// The handles for HTTP/1.1: which of them takes an attempt.
    @Suite struct SerialMultisTests {
        private final class Handle: TransferHolder {
            var transfers = 0
            var openConnections = 0
            var lastUse: Int64 = 0
        }

        private enum Place: CaseIterable {
            case here
            case there
        }

        private typealias Handles = SerialMultis<Handle, Place>

        /// Begins a transfer on a handle, and adds one where it is needed.
        private static func begin(_ handles: inout Handles, _ place: Place? = .here) -> Handle {
            let handle = handles.take(isSecure: false, for: place) ?? add(&handles)
            handle.transfers += 1
            return handle
        }

        private static func add(_ handles: inout Handles, idle: [Place] = []) -> Handle {
            let handle = Handle()
            handles.add(handle, idle: idle)
            return handle
        }

        private static func end(
            _ handle: Handle, _ handles: inout Handles, _ place: Place = .here
        ) {
            handle.transfers -= 1
            handles.noteIdle(handle, for: place)
        }

        @Test func `no handle is added before one is full, and none takes more than fit`() {
            var handles = Handles(capacity: 8)
            for number in 0..<24 {
                _ = Self.begin(&handles)
                #expect(handles.all.count == number / 8 + 1)
            }
            #expect(handles.all.allSatisfy { $0.transfers == 8 })
        }

        @Test func `an attempt goes to the handle that has an idle connection for it`() {
            var handles = Handles(capacity: 8)
            let begun = (0..<16).map { _ in Self.begin(&handles) }
            let last = handles.all[1]
            Self.end(begun[0], &handles, .there)
            Self.end(last, &handles)
            #expect(Self.begin(&handles) === last)
            // There is none to here any more, and room in the first one only.
            #expect(Self.begin(&handles) === begun[0])
            #expect(handles.notes == 1)
        }

        @Test func `an attempt on a new connection leaves the idle ones to others`() {
            var handles = Handles(capacity: 8)
            let begun = (0..<16).map { _ in Self.begin(&handles) }
            Self.end(handles.all[1], &handles)
            begun[0].transfers -= 1
            #expect(handles.take(isSecure: false, for: nil) === begun[0])
            #expect(handles.take(isSecure: false, for: .here) === handles.all[1])
        }

        @Test func `the idle connections of the first handle are known to the attempts after it`() {
            var handles = Handles(capacity: 8)
            let first = Self.add(&handles)
            first.transfers = 8
            _ = Self.add(&handles, idle: [.there, .there])
            #expect(handles.notes == 2)
            #expect(handles.take(isSecure: false, for: .there) === first)
            #expect(handles.take(isSecure: false, for: .here) === handles.all[1])
        }

        @Test func `nothing is noted while there is one handle`() {
            var handles = Handles(capacity: 8)
            let handle = Self.begin(&handles)
            Self.end(handle, &handles)
            #expect(handles.notes == 0)
            #expect(handles.take(isSecure: false, for: .here) === handle)
        }

        @Test func `with TLS a handle has room for four times as many`() {
            var handles = Handles(capacity: 8)
            let handle = Self.add(&handles)
            handle.transfers = 31
            #expect(handles.take(isSecure: false, for: nil) == nil)
            #expect(handles.take(isSecure: true, for: nil) === handle)
            handle.transfers = 32
            #expect(handles.take(isSecure: true, for: nil) == nil)
        }

        @Test func `an idle connection draws no attempt to a handle with twice as many as fit`() {
            var handles = Handles(capacity: 8)
            let (first, second) = (Self.add(&handles), Self.add(&handles))
            for _ in 0..<2 { handles.noteIdle(first, for: .here) }
            first.transfers = 15
            #expect(handles.take(isSecure: false, for: .here) === first)
            first.transfers = 16
            #expect(handles.take(isSecure: false, for: .here) === second)
        }

        @Test func `half of the handles are removed that the most attempts lately did not need`() {
            var handles = Handles(capacity: 8)
            let begun = (0..<48).map { _ in Self.begin(&handles) }
            for (index, handle) in handles.all.enumerated() { handle.openConnections = index }
            #expect(handles.removeSurplus().isEmpty)
            for handle in begun { Self.end(handle, &handles) }
            let nine = (0..<9).map { _ in Self.begin(&handles) }
            // The time before still counts.
            for _ in 0..<2 { #expect(handles.removeSurplus().isEmpty) }
            let counts = (0..<4).map { _ in handles.removeSurplus().count }
            #expect(counts == [2, 1, 1, 0])
            #expect(handles.all.map(\.openConnections) == [4, 5])
            #expect(nine.allSatisfy(handles.contains))
            #expect(handles.notes == 7)
        }

        @Test func `of handles with as many connections the one that was used last is kept`() {
            var handles = Handles(capacity: 8)
            let three = (0..<3).map { _ in Self.add(&handles) }
            for (handle, use) in zip(three, [5, 9, 7] as [Int64]) { handle.lastUse = use }
            while handles.isSplit { #expect(handles.removeSurplus().count == 1) }
            #expect(handles.all.map(ObjectIdentifier.init) == [ObjectIdentifier(three[1])])
            #expect(handles.notes == 0)
            #expect(handles.removeSurplus().isEmpty)
        }

        @Test func `what is noted is bounded, however many places there are`() {
            var handles = SerialMultis<Handle, Int>(capacity: 8)
            for _ in 0..<2 { handles.add(Handle()) }
            for place in 0..<40_000 {
                handles.noteIdle(handles.all[0], for: place)
                // Some are used once and never again.
                if place.isMultiple(of: 2) { _ = handles.take(isSecure: false, for: place) }
            }
            #expect(handles.notes <= SerialMultis<Handle, Int>.noteLimit)
        }

        @Test(arguments: 0..<20)
        func `an attempt finds an idle connection whenever there is one, in any order`(seed: UInt64)
        {
            var generator = SeededGenerator(seed: seed)
            var handles = Handles(capacity: 8)
            var running: [(Handle, Place)] = []
            // The idle connections of each handle, which a test knows exactly.
            var idle: [Place: [ObjectIdentifier: Int]] = [:]
            for step in 0..<5_000 {
                let place = Place.allCases.randomElement(using: &generator) ?? .here
                // A wave of attempts, so that handles come and go.
                let share = step / 500 % 2 == 0 ? 6 : 4
                if Int.random(in: 0..<10, using: &generator) < share || running.isEmpty {
                    let all = idle[place, default: [:]].values.reduce(0, +)
                    let wasSplit = handles.isSplit
                    let handle = Self.begin(&handles, place)
                    let name = ObjectIdentifier(handle)
                    if wasSplit { #expect(all == 0 || idle[place]?[name] ?? 0 > 0) }
                    if idle[place]?[name] ?? 0 > 0 { idle[place]?[name]? -= 1 }
                    running.append((handle, place))
                } else {
                    let (handle, place) = running.remove(
                        at: Int.random(in: running.indices, using: &generator))
                    guard handles.contains(handle) else { continue }
                    // What is idle before there is a second handle is told by the loop.
                    if handles.isSplit {
                        idle[place, default: [:]][ObjectIdentifier(handle), default: 0] += 1
                    }
                    Self.end(handle, &handles, place)
                }
                guard step.isMultiple(of: 97) else { continue }
                for removed in handles.removeSurplus() {
                    for place in Place.allCases { idle[place]?[ObjectIdentifier(removed)] = nil }
                }
                if !handles.isSplit { idle = [:] }
            }
        }
    }
#endif
