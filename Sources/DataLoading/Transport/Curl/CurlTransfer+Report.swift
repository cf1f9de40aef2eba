// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlTransfer {
        private static let sendFailure: Int32 = 55
        /// What libcurl calls a failure to go on sending: to a connection, or to a stream.
        private static let endsOfSending: Set<Int32> = [16, sendFailure, 56, 92]

        /// What an attempt that libcurl has ended with a result comes to.
        func outcome(_ result: Int32) -> DataLoaderError? {
            noteUnseenSend()
            let isAnswered =
                attempt.isAnswered || (result == 65 && attempt.response.refusesExpectation)
            if result != 0 { attempt.isWorn = true }
            var result = isAnswered ? 0 : result
            if isRefusedStream, result != 0 { return .http2(reason: "refused stream") }
            if Self.endsOfSending.contains(result), attempt.stop == nil {
                if result == Self.sendFailure, !attempt.lateAnswer.isEmpty,
                    let error = readLateAnswer()
                {
                    return error
                }
                // RFC 9113 section 8.1: an answer that is whole counts, though the server wants no more
                // of the request.
                if isWhole { result = 0 }
            }
            if let stop = attempt.stop { return result == 0 ? nil : stop }
            if let failure = attempt.feed?.failure, result != 0 { return failure }
            guard result == 0 else {
                return CurlErrors.error(
                    result, text: String(cString: errorStart), systemError: systemError,
                    attempt: attempt)
            }
            guard attempt.response.isComplete else {
                return attempt.response.bytes > 0 ? .truncatedHead : .noResponse
            }
            guard !attempt.needsEndNotice || endNotice.pointee != 0 else { return .truncatedBody }
            do throws(DataLoaderError) {
                try attempt.decoder?.finish()
                return nil
            } catch {
                return error
            }
        }

        /// How far the request got.
        var sent: SentState {
            if attempt.response.isComplete { return .headReceived }
            return hasWritten && !attempt.isUnprocessed ? .written : .nothingWritten
        }

        /// Whether the server has said that it did nothing with the request, and nothing else.
        private var isRefusedStream: Bool {
            attempt.isUnprocessed && !attempt.response.isComplete
        }

        private var hasWritten: Bool { attempt.sends > 0 }

        /// Notes that the request was written, where nothing tells of it at the time (below 7.80).
        func noteUnseenSend() {
            guard !loop.library.seesSends, attempt.sends == 0, case .running = phase,
                requestSize > 0
            else { return }
            attempt.sends = 1
            let sent = LoopClock.instant(
                attempt.handedOver, after: .microseconds(offset(CurlInfo.timeBeforeSending)))
            attempt.lastActivity = max(attempt.lastActivity, sent)
        }

        /// The counts and times so far; before the handle leaves libcurl.
        func makeReport() -> TransportReport {
            var report = TransportReport()
            report.headBytesReceived = Int64(attempt.response.bytes)
            report.bodyBytesReceived = attempt.wireBytes
            report.decodedBytes = attempt.decodedBytes
            guard let task else { return report }
            guard case .running = phase, hasWritten else {
                report.connectTime = timeSpentConnecting(task)
                return report
            }
            if task.request.body != nil { report.bodyBytesSent = offset(CurlInfo.uploadedBytes) }
            report.headBytesSent = Int64(requestSize)
            if loop.library.countsBodies {
                report.headBytesSent = max(0, report.headBytesSent - report.bodyBytesSent)
            } else if shape?.upload == .copied, let data = task.request.body?.bytes,
                data.count <= Self.copiedBodySize
            {
                // Copied bodies count as part of the head that they were sent with.
                report.headBytesSent = max(0, report.headBytesSent - Int64(data.count))
            }
            report.firstByteTime = attempt.firstByte.map { .nanoseconds($0 &- task.start) }
            report.reusedConnection = wasOnKeptConnection
            report.sharedConnection = attempt.isShared
            if !report.reusedConnection { addConnectTimes(&report, task) }
            report.remoteAddress = loop.remoteAddress(of: easy)
            report.httpVersion = httpVersion
            return report
        }

        private var wasOnKeptConnection: Bool {
            // libcurl also counts one that it began for a further send, which was refused.
            loop.library.seesSends
                ? !attempt.isOnNewConnection : long(CurlInfo.newConnections) == 0
        }

        /// The time of an attempt that has not got as far as to send.
        private func timeSpentConnecting(_ task: CurlTask) -> Duration? {
            switch phase {
            case .waiting, .resolving, .running: .nanoseconds(max(0, LoopClock.now &- task.start))
            case .idle, .preparing: nil
            }
        }

        private func addConnectTimes(_ report: inout TransportReport, _ task: CurlTask) {
            let connected = offset(CurlInfo.connectTime)
            let secured = offset(CurlInfo.tlsTime)
            let before = attempt.handedOver &- task.start
            report.connectTime = .nanoseconds(before) + .microseconds(connected)
            if secured > 0 { report.tlsTime = .microseconds(max(0, secured &- connected)) }
        }

        private var httpVersion: String? {
            switch long(CurlInfo.httpVersion) {
            case 1: "1.0"
            case 2: "1.1"
            case 3: "2"
            default: nil
            }
        }

        private var requestSize: Int { long(CurlInfo.requestSize) }
        private var systemError: Int32 { Int32(clamping: long(CurlInfo.systemError)) }

        private var errorStart: UnsafePointer<CChar> {
            UnsafePointer(errorText)
        }

        func long(_ info: Int32) -> Int {
            var value = 0
            ccurl_get_long(easy, info, &value)
            return value
        }

        func offset(_ info: Int32) -> Int64 {
            var value: Int64 = 0
            ccurl_get_offset(easy, info, &value)
            return value
        }
    }
#endif
