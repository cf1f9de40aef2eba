// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlLoop {
        /// In nanoseconds: 10 ms, which an answer may be late, and which costs little.
        private static let pauseOfLooks: Int64 = 10_000_000

        /// Lets uploads end that were answered while their stream had nothing to give.
        ///
        /// libcurl stops sending at the end of such an answer, and yet does not end a transfer that is
        /// paused. One that it goes on with asks for the body again, and pauses again. Nothing tells of
        /// the end, so that they are looked at now and then.
        func endAnsweredUploads() {
            guard !awaitingBodies.isEmpty else { return }
            let answered = awaitingBodies.values.filter(\.hasAnswer)
            guard !answered.isEmpty else { return }
            if now >= nextLook {
                for transfer in answered { unpause(transfer) }
                nextLook = now &+ Self.pauseOfLooks
            }
            expect(nextLook)
        }
    }

    extension CurlTransfer {
        /// Stops sending for a moment, in which the rest of an answer is read.
        ///
        /// A server of HTTP/2 that wants no more of a body ends the stream behind its answer (RFC 9113
        /// section 8.1). libcurl 7.88 to 8.0 finds that out when it next sends, and then drops what it
        /// has not handed over. Later ones go on reading.
        func holdUploadBack() {
            guard let task, case .read = shape?.upload else { return }
            let length = attempt.data.map { Int64($0.count) } ?? attempt.feed?.length
            guard offset(CurlInfo.uploadedBytes) < length ?? .max else { return }
            loop.awaitingBodies[ObjectIdentifier(task)] = self
            loop.nextLook = LoopClock.instant(loop.now, after: .milliseconds(10))
            loop.expect(loop.nextLook)
            let receiving = attempt.isHeldBack ? CurlSignal.pauseReceiving : 0
            _ = ccurl_easy_pause(easy, CurlSignal.pauseSending | receiving)
        }

        /// Whether the head of an answer is there.
        fileprivate var hasAnswer: Bool {
            if case .running = phase { attempt.response.isComplete } else { false }
        }
    }
#endif
