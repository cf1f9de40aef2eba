// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoadingSupport
import DataLoading

/// The bytes of one accepted connection; a cipher can be inserted here.
///
/// All calls come from the connection's thread. They block until done or interrupted.
package protocol ByteStream: AnyObject {
    /// Reads at least one byte; 0 means that the client will send no more.
    func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int
    /// Sends all bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
    /// The number of bytes that the client's system has not acknowledged.
    var unconfirmedBytes: Int { get }
    /// Blocks until an instant, or until `descriptor` is ready.
    func wait(until deadline: Instant, or descriptor: Int32?) throws
    /// Blocks until the client ends the connection; always throws.
    func waitForClient() throws
    /// Shuts down the sending side.
    func finishWriting()
    /// Drops received bytes, without waiting for more.
    func dropArrived()
    /// Closes the connection.
    func close(resetting: Bool)
}

extension ByteStream {
    /// Reads and drops everything until the client closes.
    func drain() throws {
        try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { bytes in
            while try read(into: bytes) > 0 {}
        }
    }
}

/// The reason why a script stopped before its end.
package enum Interruption: Error {
    /// The client ended the connection.
    case clientGone
    /// The server is stopping.
    case stopped
    /// The client sent bytes that are not HTTP/1.
    case malformed
}
