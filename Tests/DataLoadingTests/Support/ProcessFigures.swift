// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// The system's figures for this process.
    enum ProcessFigures {
        /// The number of open descriptors without bundles of authorities: each bundle that was ever
        /// used has one, at most 32.
        static var descriptors: Int {
            let directory = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(directory)/\(name)")
                return !(target ?? "").hasPrefix("/memfd:DataLoading")
            }
        }
        /// The number of open stream sockets of the internet protocols.
        static var sockets: Int {
            let names =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.count { name in
                guard let descriptor = Int32(name) else { return false }
                var address = sockaddr_storage()
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                let failure = withUnsafeMutablePointer(to: &address) { address in
                    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        getsockname(descriptor, $0, &length)
                    }
                }
                let family = Int32(address.ss_family)
                return failure == 0 && (family == AF_INET || family == AF_INET6)
                    && isStream(descriptor)
            }
        }

        /// Foundation keeps two datagram sockets from the first `Process` on.
        private static func isStream(_ descriptor: Int32) -> Bool {
            var kind: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
                && kind == Int32(SOCK_STREAM.rawValue)
        }

        /// The number of transport threads, found by their names.
        static var loopThreads: Int { threads(named: ["DataLoading"]) }

        /// The number of all threads that the library starts itself.
        static var libraryThreads: Int { threads(named: ["DataLoading", "names"]) }

        private static func threads(named names: Set<String>) -> Int {
            let tasks =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.count { task in
                let name = try? String(
                    contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                return name.map { names.contains(String($0.dropLast())) } ?? false
            }
        }

        /// The resident memory in bytes.
        static var residentBytes: Int {
            let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            return (Int(fields.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4_096
        }

        /// The resident memory in bytes, once the allocator has returned what nobody holds.
        ///
        /// How much of it the arenas of a dozen threads keep differs by 20 MiB from one moment to
        /// the next.
        static var heldBytes: Int {
            typealias Trim = @convention(c) (Int) -> Int32
            if let symbol = dlsym(nil, "malloc_trim") {
                _ = unsafeBitCast(symbol, to: Trim.self)(0)
            }
            return residentBytes
        }

        /// The peak of the resident memory in bytes since `resetPeak`.
        static var peakResidentBytes: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
        }

        /// Resets the peak.
        static func resetPeak() {
            guard let file = fopen("/proc/self/clear_refs", "w") else { return }
            fputs("5", file)
            fclose(file)
        }

        /// The number of all threads.
        static var threads: Int { count("/proc/self/task") }

        /// Limits the address space to the present size plus some bytes.
        static func limitAddressSpace(more bytes: Int) {
            let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            let pages = fields.split(separator: " ").first.flatMap { Int($0) } ?? 0
            let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            limit.rlim_cur = rlim_t(pages * 4_096 + bytes)
            setrlimit(resource, &limit)
        }

        /// Whether a sanitizer is active, whose shadow memory makes memory figures meaningless.
        static var isSanitized: Bool {
            dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
        }

        private static func count(_ directory: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? -1
        }
    }
#endif
