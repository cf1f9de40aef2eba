// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

package import DataLoading

/// The bytes of one accepted connection: the seam where a cipher can stand between both sides.
///
/// All calls come from the connection's thread. They block until done or interrupted.
package protocol ByteStream: AnyObject {
    /// Reads at least one byte; 0 means that the client will send no more.
    func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int
    /// Sends all bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws
    /// How many bytes were sent whose arrival the client's system has not confirmed.
    var unconfirmedBytes: Int { get }
    /// Sleeps until an instant, or until `descriptor` is ready.
    func wait(until deadline: Instant, or descriptor: Int32?) throws
    /// Sleeps until the client ends the connection; always throws.
    func waitForClient() throws
    /// Says that nothing more will be sent.
    func finishWriting()
    /// Drops what has arrived, without waiting for more.
    func dropArrived()
    /// Ends the connection.
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

/// Why a script stopped before its end.
package enum Interruption: Error {
    /// The client ended the connection.
    case clientGone
    /// The server is stopping.
    case stopped
    /// The client sent what is no HTTP/1.
    case malformed
}
