// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    // Seen on 7.88.1; libcurl's maintainers know of it as https://github.com/curl/curl/issues/11769, and
    // worked on it in https://github.com/curl/curl/pull/13750. To be let go when these tests hold
    // without it on every supported version: `CurlExpectTests`, "a whole answer ends an upload that
    // nobody reads any more"; `HTTP2EarlyAnswerTests`, "an answer that is whole ends an upload whose window
    // stays closed".
    extension CurlLoop {
        /// In nanoseconds: 10 ms, which an answer may be late, and which costs little.
        private static let pauseOfLooks: Int64 = 10_000_000

        /// Lets uploads end that were answered while their stream had nothing to give.
        ///
        /// libcurl stops sending at the end of such an answer, and yet does not end a transfer that is
        /// paused. One that it goes on with asks for the body again, and pauses again. Nothing tells of
        /// the end, so that they are looked at now and then.
        ///
        /// Over HTTP/2 libcurl 7.88.1 also goes on with an upload whose stream the server has ended with
        /// a whole answer, and waits for a window that never opens (nginx' `return`; as in
        /// https://github.com/curl/curl/issues/7821). 8.14.1 and 8.23.0 end it, as is done here.
        func endAnsweredUploads() {
            guard !awaitingBodies.isEmpty || !answeredUploads.isEmpty else { return }
            let answered = Array(answeredUploads.values)
            let waiting = awaitingBodies.filter { answeredUploads[$0.key] == nil }.values
                .filter(\.hasAnswer)
            guard !answered.isEmpty || !waiting.isEmpty else { return }
            if now >= nextLook {
                for transfer in answered where transfer.isAnsweredByStream {
                    finish(transfer, transfer.outcome(0))
                }
                for transfer in waiting { unpause(transfer) }
                nextLook = now &+ Self.pauseOfLooks
            }
            expect(nextLook)
        }
    }

    extension CurlTransfer {
        /// Has an upload looked at in 10 ms whose stream's answer is there, unless it is whole itself.
        func noteWholeAnswer() {
            guard isAnsweredByStream, let task, task.request.body != nil else { return }
            // libcurl may ask for more of the body once again, which says nothing of the answer.
            loop.answeredUploads[ObjectIdentifier(task)] = self
            loop.nextLook = LoopClock.instant(loop.now, after: .milliseconds(10))
            loop.expect(loop.nextLook)
        }

        /// Whether an answer on a stream of HTTP/2 is there, all of it, as far as its length tells.
        fileprivate var isAnsweredByStream: Bool {
            guard case .running = phase, attempt.response.isComplete, !attempt.isHeldBack else {
                return false
            }
            return attempt.response.minorVersion == nil && isWhole
        }

        /// Whether the head of an answer is there.
        fileprivate var hasAnswer: Bool {
            if case .running = phase { attempt.response.isComplete } else { false }
        }
    }
#endif
