// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Reads the names, lengths and times of all files, and opens none.
enum DiskScan {
    /// The age in seconds from which a file counts as left over that no process has completed.
    static let staleness: Int64 = 60

    /// Lists the entries, and removes what killed processes have left.
    ///
    /// - Returns: Nil when a folder cannot be listed, as when the process has no descriptor left.
    static func run(_ directory: DiskDirectory, now: Int64) -> [DiskIndex.Seen]? {
        removeLeftTrees(directory)
        var seen: [DiskIndex.Seen] = []
        for folder in EntryName.folders {
            let path = DiskDirectory.folder(folder)
            guard let names = try? directory.names(in: path) else { return nil }
            for text in names {
                guard let status = try? directory.status("\(path)/\(text)") else { continue }
                if let name = EntryName(text), name.folder == folder {
                    seen.append(
                        DiskIndex.Seen(
                            name: name, length: Int64(status.st_size),
                            used: max(status.usedAt.nanoseconds, status.writtenAt.nanoseconds)))
                } else if text.hasPrefix(DiskDirectory.unfinished),
                    isStale(status.writtenAt, now)
                {
                    try? directory.remove("\(path)/\(text)")
                }
            }
        }
        return seen
    }

    private static func isStale(_ written: timespec, _ now: Int64) -> Bool {
        let age = (now / 1_000_000_000).subtractingReportingOverflow(Int64(written.tv_sec))
        return age.overflow || age.partialValue > staleness
    }

    /// Removes the folders of entries that were removed.
    static func removeLeftTrees(_ directory: DiskDirectory) {
        guard let names = try? directory.names(in: ".", beginning: DiskDirectory.removed) else {
            return
        }
        for name in names {
            for folder in EntryName.folders {
                let path = "\(name)/\(folder)"
                for file in (try? directory.names(in: path)) ?? [] {
                    try? directory.remove("\(path)/\(file)")
                }
                try? directory.remove(path, isFolder: true)
            }
            try? directory.remove(name, isFolder: true)
        }
    }
}
