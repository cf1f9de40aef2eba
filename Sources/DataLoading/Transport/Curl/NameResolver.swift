// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// What a look-up found.
    enum NameAnswer: Sendable, Equatable {
        /// Numeric addresses in the system's order, IPv6 ones in brackets.
        case addresses([String])
        /// The name has no address, or no name server answered.
        case unknown
        /// The process is out of something.
        case outOfResources(String)
    }

    /// Looks names up on at most four threads, which exist only while there are names to look up.
    ///
    /// libcurl's own resolver makes one thread a look-up, does not join equal ones, and up to 7.86
    /// holds the loop until `getaddrinfo` returns when its transfer is cancelled.
    final class NameResolver: Sendable {
        typealias Lookup = @Sendable (String) -> NameAnswer

        private struct State {
            var waiting: [(name: String, answer: @Sendable (NameAnswer) -> Void)] = []
            var workers = 0
        }

        static let workerLimit = 4
        private let lookup: Lookup
        private let state = Locked(State())

        init(lookup: @escaping Lookup = systemLookup) {
            self.lookup = lookup
        }

        /// Looks a name up; the answer comes on another thread.
        ///
        /// Equal names are the caller's to join.
        func resolve(_ name: String, answer: @escaping @Sendable (NameAnswer) -> Void) {
            let needsWorker = state.withLock { state in
                state.waiting.append((name, answer))
                guard state.workers < Self.workerLimit else { return false }
                state.workers += 1
                return true
            }
            guard needsWorker else { return }
            if let thread = LoopThread.start("names", { self.work() }) {
                pthread_detach(thread)
            } else {
                failWithoutWorker()
            }
        }

        /// Forgets a name whose answer then never comes; false when a thread has taken it already.
        func forget(_ name: String) -> Bool {
            state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.name == name }) else {
                    return false
                }
                state.waiting.remove(at: index)
                return true
            }
        }

        /// Forgets the names that no thread has taken yet; their answers never come.
        func stop() {
            state.withLock { $0.waiting = [] }
        }

        private func work() {
            while true {
                let next = state.withLock { state in
                    guard state.waiting.isEmpty else {
                        return Optional(state.waiting.removeFirst())
                    }
                    state.workers -= 1
                    return nil
                }
                guard let next else { return }
                next.answer(lookup(next.name))
            }
        }

        private func failWithoutWorker() {
            let stranded = state.withLock { state in
                state.workers -= 1
                guard state.workers == 0 else { return [] as [@Sendable (NameAnswer) -> Void] }
                defer { state.waiting = [] }
                return state.waiting.map(\.answer)
            }
            for answer in stranded { answer(.outOfResources("no thread for a name look-up")) }
        }

        /// The system's resolver.
        static func systemLookup(_ name: String) -> NameAnswer {
            var hints = addrinfo()
            hints.ai_family = AF_UNSPEC
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            let failure = getaddrinfo(name, nil, &hints, &list)
            defer { if let list { freeaddrinfo(list) } }
            if failure == EAI_MEMORY { return .outOfResources("memory") }
            if failure == EAI_SYSTEM, errno == EMFILE || errno == ENFILE || errno == ENOMEM {
                return .outOfResources(String(cString: strerror(errno)))
            }
            var addresses: [String] = []
            var next = failure == 0 ? list : nil
            while let entry = next?.pointee {
                if let text = numericText(entry), !addresses.contains(text) {
                    addresses.append(text)
                }
                next = entry.ai_next
            }
            return addresses.isEmpty ? .unknown : .addresses(addresses)
        }

        private static func numericText(_ entry: addrinfo) -> String? {
            var buffer = [CChar](repeating: 0, count: 64)
            let failure = getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0,
                NI_NUMERICHOST)
            guard failure == 0 else { return nil }
            let end = buffer.firstIndex(of: 0) ?? buffer.endIndex
            let text = String(decoding: buffer[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
            // libcurl takes no scope in CURLOPT_RESOLVE.
            guard !text.contains("%") else { return nil }
            return entry.ai_family == AF_INET6 ? "[\(text)]" : text
        }
    }
#endif
