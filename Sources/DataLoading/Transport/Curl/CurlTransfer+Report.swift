// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    extension CurlTransfer {
        private static let sendFailure: Int32 = 55

        /// What an attempt that libcurl has ended with a result comes to.
        func outcome(_ result: Int32) -> DataLoaderError? {
            let isAnswered =
                attempt.isAnswered || (result == 65 && attempt.response.refusesExpectation)
            var result = isAnswered ? 0 : result
            if result == Self.sendFailure, attempt.stop == nil {
                if !attempt.lateAnswer.isEmpty, let error = readLateAnswer() { return error }
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
            return hasWritten && !attempt.isRefused ? .written : .nothingWritten
        }

        private var hasWritten: Bool {
            // Below 7.80 nothing else tells that it was written.
            attempt.sends > 0 || (!loop.library.seesSends && requestSize > 0)
        }

        /// The counts and times so far; before the handle leaves libcurl.
        func makeReport() -> TransportReport {
            var report = TransportReport()
            report.headBytesReceived = Int64(attempt.response.bytes)
            report.bodyBytesReceived = attempt.wireBytes
            report.decodedBytes = attempt.decodedBytes
            guard let task, case .running = phase, hasWritten else { return report }
            if task.request.body != nil { report.bodyBytesSent = offset(CurlInfo.uploadedBytes) }
            report.headBytesSent = Int64(requestSize)
            if shape?.upload == .copied, let data = task.request.body?.bytes,
                data.count <= Self.copiedBodySize
            {
                // Copied bodies count as part of the head that they were sent with.
                report.headBytesSent = max(0, report.headBytesSent - Int64(data.count))
            }
            report.firstByteTime = attempt.firstByte.map { .nanoseconds($0 &- task.start) }
            report.reusedConnection = wasOnKeptConnection
            if !report.reusedConnection { addConnectTimes(&report, task) }
            report.remoteAddress = loop.remoteAddress(of: easy)
            report.httpVersion = httpVersion
            return report
        }

        private var wasOnKeptConnection: Bool {
            // libcurl also counts one that it made for a further send, which was refused.
            loop.library.seesSends
                ? !attempt.isOnNewConnection : long(CurlInfo.newConnections) == 0
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

        private func offset(_ info: Int32) -> Int64 {
            var value: Int64 = 0
            ccurl_get_offset(easy, info, &value)
            return value
        }
    }
#endif
