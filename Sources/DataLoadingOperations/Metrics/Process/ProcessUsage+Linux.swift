// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    extension ProcessUsage {
        /// The figures of now; nil where /proc is not mounted.
        static var now: ProcessUsage? {
            guard let process = text("/proc/self/stat"), let system = text("/proc/stat"),
                let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            else { return nil }
            let files = ProcessFiles(
                process: process, system: system, descriptors: Int64(open.count),
                maxDescriptors: maxDescriptors, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
                pageSize: Int64(sysconf(Int32(_SC_PAGESIZE))))
            return files.usage
        }

        /// The text of a file; the kernel may cut the name of a program inside of a character.
        private static func text(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        }

        private static var maxDescriptors: Int64? {
            let text = text("/proc/self/limits") ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            return line?.split(separator: " ").dropFirst(3).first.flatMap { Int64($0) }
        }
    }
#endif
