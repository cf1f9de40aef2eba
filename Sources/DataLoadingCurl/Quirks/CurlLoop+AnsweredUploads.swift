// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

// Quirk: a server may send a complete response while the body of an upload is not there yet, or
// its window is closed. libcurl stops sending at the end of such a response, but does not end a
// transfer that is paused, and it signals nothing. A transfer that it continues asks for the
// body again and pauses again. Over HTTP/2 libcurl also continues an upload whose stream the
// server has ended with a complete response, and waits for a window that never opens (nginx'
// `return`).
//
// Seen on: 7.88.1, 8.14.1 and 8.23.0, on each of which the second test below fails without the
// code. 8.14.1 and 8.23.0 end an upload over HTTP/2 that is not paused by themselves, as is
// done here.
//
// Upstream: https://github.com/curl/curl/pull/13750 (a connection that is closed under a paused
// upload), https://github.com/curl/curl/issues/16788 (a response during a stalled upload),
// https://github.com/curl/curl/pull/11176 (uploads over HTTP/2 that do not end).
//
// Remove when these tests pass without it on every supported version: `CurlExpectTests`, "a
// complete response ends an upload that the server stopped reading"; `HTTP2EarlyAnswerTests`,
// "a complete response ends an upload whose window stays closed".

extension CurlLoop {
    /// 10 ms, in nanoseconds: the maximum delay of such a response, at a small cost.
    private static let answeredUploadPollInterval: Int64 = 10_000_000

    /// Ends uploads over HTTP/2 whose response is complete, and unpauses paused uploads with a
    /// response head.
    ///
    /// An unpaused transfer ends if its response is complete; otherwise it asks for the body
    /// and pauses again.
    func finishAnsweredUploads() {
        guard !awaitingBodies.isEmpty || !answeredUploads.isEmpty else { return }
        let answered = Array(answeredUploads.values)
        let waiting = awaitingBodies.filter { answeredUploads[$0.key] == nil }.values
            .filter(\.hasResponseHead)
        guard !answered.isEmpty || !waiting.isEmpty else { return }
        for transfer in answered {
            if transfer.state.answerDeadline > now {
                scheduleCheck(at: transfer.state.answerDeadline)
            } else if transfer.hasCompleteHTTP2Response {
                finish(transfer, transfer.outcome(0))
            }
        }
        guard !waiting.isEmpty else { return }
        if now >= nextAnsweredUploadPoll {
            for transfer in waiting { unpause(transfer) }
            nextAnsweredUploadPoll = now &+ Self.answeredUploadPollInterval
        }
        scheduleCheck(at: nextAnsweredUploadPoll)
    }
}

extension CurlTransfer {
    /// Schedules the end of an upload in 10 ms when the response on its stream is complete,
    /// unless it ends before.
    func noteCompleteResponse() {
        // libcurl may ask for more of the body once more, which says nothing about the
        // response.
        guard hasCompleteHTTP2Response, let task, task.request.body != nil,
            loop.answeredUploads.updateValue(self, forKey: ObjectIdentifier(task)) == nil
        else { return }
        state.answerDeadline = LoopClock.instant(loop.now, after: .milliseconds(10))
        loop.scheduleCheck(at: state.answerDeadline)
    }

    /// Whether the response on a stream of HTTP/2 has arrived to its declared length.
    fileprivate var hasCompleteHTTP2Response: Bool {
        guard case .running = phase, state.response.isComplete, !state.isHeldBack else {
            return false
        }
        return state.response.minorVersion == nil && isWhole
    }

    /// Whether a response head has arrived.
    fileprivate var hasResponseHead: Bool {
        if case .running = phase { state.response.isComplete } else { false }
    }
}
