// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

extension CurlTransfer {
    static let sendFailure: Int32 = 55
    /// The results of a connection or stream on which libcurl cannot send any more.
    private static let sendingEndResults: Set<Int32> = [16, sendFailure, 56, 92]

    /// Returns the error of an attempt that libcurl has ended with a result; nil for success.
    func outcome(_ result: Int32) -> DataLoaderError? {
        noteUnreportedSend()
        if result != 0 { state.hadError = true }
        if state.tunnel?.isRefused == true { return nil }
        var result = isRefusedResend(result) ? 0 : result
        if isRefusedStream, result != 0 { return .http2(reason: "refused stream") }
        if Self.sendingEndResults.contains(result), state.stop == nil {
            if result == Self.sendFailure, !state.earlyResponse.isEmpty,
                let error = readEarlyResponse()
            {
                return error
            }
            // RFC 9113 section 8.1: a complete response counts, although the server wants no
            // more of the request.
            if isWhole { result = 0 }
        }
        if let stop = state.stop { return result == 0 ? nil : stop }
        if let failure = state.feed?.failure, result != 0 { return failure }
        guard result == 0 else {
            return CurlErrors.error(
                result, text: String(cString: errorStart), systemError: systemError,
                state: state)
        }
        if let error = incompleteHeadError { return error }
        guard !lacksCloseNotify else { return .truncatedBody }
        do throws(DataLoaderError) {
            try state.decoder?.finish()
            return nil
        } catch {
            return error
        }
    }

    /// How much of the request was sent.
    var sent: SentState {
        if state.response.isComplete { return .headReceived }
        return hasWritten && !state.isUnprocessed ? .written : .nothingWritten
    }

    /// Whether the server has said that it did not process the request, and has sent no
    /// response.
    private var isRefusedStream: Bool {
        state.isUnprocessed && !state.response.isComplete
    }

    private var hasWritten: Bool { state.sends > 0 }

    /// Detects that the request was written, where libcurl does not report it (below 7.80).
    func noteUnreportedSend() {
        guard !loop.library.canRefuseSends, state.sends == 0, case .running = phase,
            requestSize > 0
        else { return }
        state.sends = 1
        let sent = LoopClock.instant(
            state.handedOver, after: .microseconds(offset(CurlInfo.timeBeforeSending)))
        state.lastActivity = max(state.lastActivity, sent)
    }

    /// Collects the counts and times so far, before the handle leaves libcurl.
    func makeReport() -> TransportReport {
        var report = TransportReport()
        report.headBytesReceived = Int64(state.response.bytes + (state.tunnel?.bytes ?? 0))
        report.bodyBytesReceived = state.wireBytes
        report.decodedBytes = state.decodedBytes
        guard let task else { return report }
        guard case .running = phase, hasWritten else {
            report.connectTime = timeSpentConnecting(task)
            return report
        }
        if task.request.body != nil { report.bodyBytesSent = offset(CurlInfo.uploadedBytes) }
        report.headBytesSent = headBytesSent(task, bodyBytesSent: report.bodyBytesSent)
        report.firstByteTime = state.firstByte.map { .nanoseconds($0 &- task.start) }
        report.reusedConnection = usedKeptConnection
        report.sharedConnection = state.isShared
        if !report.reusedConnection { addConnectTimes(&report, task) }
        report.remoteAddress = isLocal ? connectTarget?.text : loop.remoteAddress(of: easy)
        report.httpVersion = httpVersion
        return report
    }

    private var usedKeptConnection: Bool {
        // libcurl also counts a connection that it began for a second send, which was refused.
        loop.library.canRefuseSends
            ? !state.isOnNewConnection : long(CurlInfo.newConnections) == 0
    }

    /// Returns the time that an attempt without a send has spent on its connection.
    private func timeSpentConnecting(_ task: CurlTask) -> Duration? {
        switch phase {
        case .waiting, .resolving, .running: .nanoseconds(max(0, LoopClock.now &- task.start))
        case .idle, .preparing: nil
        }
    }

    private func addConnectTimes(_ report: inout TransportReport, _ task: CurlTask) {
        let connected = offset(CurlInfo.connectTime)
        let secured = offset(CurlInfo.tlsTime)
        let before = state.handedOver &- task.start
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

    var requestSize: Int { long(CurlInfo.requestSize) }
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
