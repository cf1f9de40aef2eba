// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

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
        /// Whether the head of an answer is there.
        fileprivate var hasAnswer: Bool {
            if case .running = phase { attempt.response.isComplete } else { false }
        }
    }
#endif
