// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

/// The state of one attempt on a handle.
struct TransferState {
    var response = ResponseGuard(byteLimit: 0)
    /// The bytes of the response before the head that is arriving.
    var headStart = 0
    /// The tunnel through a proxy; nil without one.
    var tunnel: Tunnel?
    /// The handle's field lines are those of the attempt.
    var hasSameHeaders = false
    /// When the attempt must be connected.
    var connectDeadline = Int64.max
    var idleLimit = Int64.max
    var routing = ConnectionRouting()
    var lastActivity: Int64 = 0
    /// The kernel's unacknowledged bytes when the idle limit last passed.
    var unacknowledged: Int32 = 0
    /// When the attempt began to wait for the addresses of its name.
    var lookupStart: Int64 = 0
    /// The loop's number of resets when the attempt began.
    var resets = 0
    /// When the attempt was added to a multi handle, with its name resolved.
    var handedOver: Int64 = 0
    var firstByte: Int64?
    /// How often the request was written; at most once where libcurl calls back before it
    /// writes.
    var sends = 0
    /// Whether it was sent on a connection that libcurl had opened for the attempt.
    var isOnNewConnection = false
    /// The connection on which it was sent.
    var connection: ConnectionName?
    /// Another attempt has sent on the connection that was opened for this one.
    var isShared = false
    /// The number of its stream on a connection of HTTP/2.
    var stream: UInt32?
    /// libcurl looks for another connection to resend the request on, which the loop will
    /// refuse.
    var isBeingResent = false
    /// The peer has said that it did not process the request.
    var isUnprocessed = false
    /// The peer requires HTTP/1.1 for the request.
    var wantsHTTP1 = false
    /// libcurl has ended the transfer with an error, whether or not the attempt failed.
    var hadError = false
    /// The loop's own reason to stop, which replaces libcurl's result.
    var stop: DataLoaderError?
    var decoder: ContentDecoder?
    /// Whether the received head is followed by a body.
    var hasBody = true
    /// The body ends with its connection, so that an end without a close_notify may be a
    /// truncation attack.
    var needsCloseNotify = false
    /// The pieces of a streamed body that are not handed on yet.
    var collected = Data()
    /// When an upload over HTTP/2 is ended whose response is complete.
    var answerDeadline = Int64.max
    var wireBytes: Int64 = 0
    var decodedBytes: Int64 = 0
    /// libcurl holds body bytes back until it is unpaused.
    var isHeldBack = false
    /// The decoder has bytes that it must not decode before `resume`.
    var isUndecoded = false
    /// libcurl's result, when it came before all received bytes were decoded.
    var result: Int32?
    /// The response counts, and the loop has refused a resend that libcurl wanted because of
    /// it.
    var isAnswered = false
    /// The bytes that had arrived unread when libcurl closed the connection.
    var earlyResponse: [UInt8] = []
    var data: Data?
    /// How many bytes of the body libcurl has taken.
    var dataOffset = 0
    var feed: BodyFeed?
}
