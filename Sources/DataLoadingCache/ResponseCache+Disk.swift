// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
public import DataLoadingTransport
public import Foundation

extension ResponseCache {
    /// Opens a cache in a directory, which stays when the process ends.
    ///
    /// ```swift
    /// configuration.cache = try .disk(at: directory)
    /// ```
    /// Any number of processes may share the directory, which is for nothing else. It gets the mode
    /// 0700 and its files 0600. Each response is a file of its own, with the URL and its query, and
    /// with checksums: it is written beside and renamed, so that a process that is killed loses at
    /// most the response that it was writing. After a loss of power some of the last responses may be
    /// missing. A file that is damaged is never delivered: the load asks the server.
    ///
    /// Responses of factories with a `cachePartition` are kept in files whose names do not show it.
    /// Those of other factories with authorisers are in memory only. A removal, as by a reset, ends
    /// all responses that are stored, by whichever process, and those that this process is
    /// receiving.
    ///
    /// On a full or read-only disk the cache answers with what is there and what it has in memory.
    /// It tries again to write after a minute; `statistics.writeFailures` counts. While a disk does
    /// not answer for two seconds, loads pass it by.
    ///
    /// - Parameters:
    ///   - directory: The directory; it is made if it is not there.
    ///   - capacity: The maximum number of bytes of all files, each of which counts in whole blocks
    ///     of 4 KiB; default 1 GiB. The files that were
    ///     not used for longest leave first, until nine tenths are left. Each process counts what
    ///     others add when it has added a sixteenth itself, so several may pass it by as much. A
    ///     body that is larger than 16 MiB, or than a quarter of the capacity, is not kept.
    ///   - memory: The maximum number of bytes that are in memory too; default 16 MiB.
    ///   - guessesFreshnessOfQueries: As for a cache in memory; default false.
    /// - Returns: The cache; it lists its files in the background.
    /// - Throws: `.invalidConfiguration` when the directory cannot be made or written, is another
    ///   user's, or others may write to it.
    public static func disk(
        at directory: URL, capacity: Int64 = 1 << 30, memory: Int = 16 << 20,
        guessesFreshnessOfQueries: Bool = false
    ) throws(DataLoaderError) -> ResponseCache {
        try disk(
            at: directory, DiskSettings(capacity: max(capacity, 0)), memory: memory,
            guessesFreshnessOfQueries: guessesFreshnessOfQueries)
    }

    static func disk(
        at directory: URL, _ settings: DiskSettings, memory: Int = 16 << 20,
        guessesFreshnessOfQueries: Bool = false
    ) throws(DataLoaderError) -> ResponseCache {
        ResponseCache(
            MemoryStore(capacity: memory), try DiskStore(at: directory, settings),
            maxBody: Int(clamping: min(settings.capacity / 4, 16 << 20)),
            guessesFreshnessOfQueries: guessesFreshnessOfQueries)
    }
}

/// Looks, stores and updates on the queue of the files.
extension ResponseCache {
    /// Whether there are files, whose disk may block.
    package var isOnDisk: Bool { disk != nil }

    /// The files for a key; nil where it has none.
    func disk(for key: CacheKey) -> DiskStore? {
        if case .unnamed = key.partition { nil } else { disk }
    }

    /// The response that a request chooses, from memory if its file is still there.
    func find(
        _ key: CacheKey, _ request: HTTPHeaders, _ stamp: Removals.Stamp, _ state: inout DiskState
    ) -> StoredAnswer.Found {
        let found = memory.find(key, request)
        if case .entry(let entry) = found {
            guard let file = entry.file else { return StoredAnswer.Found(found) }
            if state.isPresent(file) { return StoredAnswer.Found(found) }
            memory.drop(file, key, for: request)
        }
        guard let diskKey = DiskKey(key) else { return .nothing }
        switch state.find(diskKey, request, heuristic) {
        case .entry(let response, let body, let file):
            if case .memory(let bytes) = body {
                memory.store(
                    MemoryStore.Entry(response: response, body: bytes, file: file), key,
                    for: request, since: stamp)
            }
            return .answer(StoredAnswer(response: response, body: body))
        case .otherVariants: return .otherVariants
        case .nothing: return .nothing
        }
    }

    /// Stores a response, unless its URL was removed since its request looked here.
    func write(_ response: StoredResponse, _ body: Data, _ recall: Recall, to disk: DiskStore) {
        let (key, request) = (recall.key, recall.request.headers)
        let isWaiting = disk.write(body.count + DiskStore.overhead) { state in
            guard !self.memory.isRemoved(key.target, since: recall.stamp),
                let diskKey = DiskKey(key)
            else { return }
            let file: FileMark?
            switch state.store(response, body, diskKey, for: request) {
            case .stored(let mark): file = mark
            case .failed: file = nil
            case .overtaken: return
            }
            guard body.count <= disk.settings.maxWholeBody else { return }
            self.memory.store(
                MemoryStore.Entry(response: response, body: body, file: file), key, for: request,
                since: recall.stamp)
        }
        // What could not be replaced is no longer right.
        if !isWaiting { invalidate([key.target]) }
    }

    func update(
        _ old: StoredResponse, by new: StoredResponse, _ recall: Recall, in disk: DiskStore
    ) {
        // A file with a large body takes long to write anew.
        guard new.matters(after: old) else { return }
        let (key, request) = (recall.key, recall.request.headers)
        disk.perform { state in
            guard !self.memory.isRemoved(key.target, since: recall.stamp),
                let diskKey = DiskKey(key)
            else { return }
            let file = state.update(old, by: new, diskKey)
            self.memory.update(old, by: new, key, for: request, file: file)
        }
    }

    /// Returns when what was asked of the files before is done.
    func whenDone() async {
        guard let disk else { return }
        await withCheckedContinuation { continuation in
            disk.perform { _ in continuation.resume() }
        }
    }
}
