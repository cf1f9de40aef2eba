// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport
import Foundation

/// Writes a part beside the destination, which a later load may continue, and renames it when it is
/// complete.
///
/// The part is the beginning of what its record names, at any moment: the record is removed before
/// the part becomes another body's, and is written before the first byte of that body. A process may
/// be killed at any instruction.
struct ResumableFileSink: BodySink {
    private let destination: URL
    private let place: PartPlace
    /// The digest of the request.
    private let request: String
    private let limit: Int64
    private let sha256: [UInt8]?
    private var file: FileSink
    /// The permissions of a new file, which the part gets when it is complete.
    private var usualMode: mode_t = 0o600
    /// What the part is the beginning of; nil when no later load can continue it.
    private var record: PartRecord?
    /// Whether the part is of no use to a later load.
    private var isWorthless = false

    init(
        _ destination: URL, for request: DataLoaderRequest, limit: Int64?, sha256: [UInt8]?
    ) {
        self.destination = destination
        self.request = PartRecord.digest(of: request)
        self.limit = limit ?? .max
        self.sha256 = sha256
        place = PartPlace(beside: destination)
        file = FileSink(destination, synchronizes: true, sha256: sha256)
    }

    mutating func prepare(isStopped: () -> Bool) throws(DataLoaderError) -> StoredPart? {
        // The sink of a load that is over may have been settled, and nothing would close the part.
        guard !isStopped() else { return nil }
        var status = stat()
        guard destination.isFileURL else { throw .responseSink(reason: "not the URL of a file") }
        if stat(destination.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            errno = EISDIR
            throw .ofFile("the file cannot be put in its place")
        }
        try DescriptorReserve.checkRoom()
        guard let mode = UnfinishedFiles.usualMode(in: place.directory) else {
            throw .ofFile("the file cannot be made")
        }
        usualMode = mode
        let descriptor = try place.open()
        file.adopt(descriptor, at: place.part)
        guard let record = try place.readRecord() else {
            guard ftruncate(descriptor, 0) == 0 else { throw .ofFile("the part cannot be written") }
            return nil
        }
        guard fstat(descriptor, &status) == 0, let part = part(record, Int64(status.st_size)),
            let hash = Self.hash(of: descriptor, part.count, sha256 != nil, isStopped)
        else { return nil }
        // The last byte stays until the server's replaces it: a part does not get shorter.
        guard lseek(descriptor, off_t(part.count), SEEK_SET) == off_t(part.count) else {
            throw .ofFile("the part cannot be written")
        }
        file.adopt(descriptor, at: place.part, count: part.count, hash: hash)
        self.record = record
        return part
    }

    /// Returns what can be continued of a part; nil when it must begin anew.
    private func part(_ record: PartRecord, _ size: Int64) -> StoredPart? {
        // The last byte is loaded again: a server is asked for one byte of a body that is complete,
        // because there is no range of none (RFC 9110 section 14.1.2).
        let count = size - 1
        guard record.request == request, count > 0, count < limit,
            size <= record.length ?? .max, record.length ?? 0 <= limit,
            // A loss of power may leave bytes that were never written; a digest would find them.
            sha256 != nil || record.isOfThisBoot
        else { return nil }
        return StoredPart(
            count: count, validator: record.validator, length: record.length,
            url: sha256 == nil ? record.url : nil)
    }

    mutating func begin(_ response: DataLoaderResponse) throws(DataLoaderError) {
        guard file.size != nil else { throw .responseSink(reason: "there is no part") }
        // No range was asked for, and a part of the body must not become the file.
        guard response.statusCode != .partialContent else { throw .unaskedRange }
        isWorthless = true
        try place.removeRecord()
        try file.begin()
        record = PartRecord(of: response, request: request)
        writeRecord()
    }

    /// Writes the record, without which the part is only of use to this load.
    private mutating func writeRecord() {
        isWorthless = record.map { (try? place.write($0)) == nil } ?? true
    }

    mutating func write(_ bytes: Data) throws(DataLoaderError) { try file.write(bytes) }

    mutating func commit() throws(DataLoaderError) {
        try file.setMode(usualMode)
        do throws(DataLoaderError) {
            try file.complete()
        } catch {
            isWorthless = true
            throw error
        }
        // While the part has its name, its lock keeps others from it. Under the name of the part
        // that is renamed another load may have begun its own, whose record this would be.
        try? place.removeRecord()
        do throws(DataLoaderError) {
            try file.putInPlace()
        } catch {
            // The name says nothing about the bytes: a later load needs only the last one.
            try? file.setMode(0o600)
            writeRecord()
            throw error
        }
    }

    mutating func discard() {
        guard let size = file.size else { return }
        guard isWorthless || size == 0 else { return file.keep() }
        try? place.removeRecord()
        file.discard()
    }

    /// Returns the state of the digest after the first bytes of a file; nil when it cannot be read
    /// to there, or no load waits for it any more.
    private static func hash(
        of descriptor: Int32, _ count: Int64, _ isWanted: Bool, _ isStopped: () -> Bool
    ) -> SHA256? {
        var hash = SHA256()
        guard isWanted else { return hash }
        var buffer = [UInt8](repeating: 0, count: 262_144)
        var offset: Int64 = 0
        while offset < count, !isStopped() {
            let wanted = Int(min(Int64(buffer.count), count - offset))
            let read = buffer.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, wanted, off_t(offset))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return nil }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<read])) }
            offset += Int64(read)
        }
        return offset == count ? hash : nil
    }
}
