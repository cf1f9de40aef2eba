// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl
    import Foundation

    /// One easy handle and the attempt that it carries; kept and used again for the next attempt.
    ///
    /// Lives on the loop's thread alone. libcurl's callbacks find it by an unretained pointer: it
    /// holds a reference to itself from the making of its handle to `free`.
    final class CurlTransfer {
        /// How far the attempt is.
        enum Phase {
            case idle
            /// The body's file or stream is being opened.
            case preparing
            /// Waiting for another attempt to find out what the server speaks.
            case waiting
            /// Waiting for the addresses of this name.
            case resolving(String)
            /// In libcurl's hands.
            case running(CurlMulti)
        }

        let easy: OpaquePointer
        let loop: CurlLoop
        /// What the handle is set up for; nil when that is unknown.
        ///
        /// Its fields were checked when it was made, and its host is the origin's.
        var shape: CurlShape?
        var headerList: CurlStringList?
        var resolveList: CurlStringList?
        var connectList: CurlStringList?
        /// The URL and the address of the last attempt, which are often those of the next.
        private(set) var origin: Origin?
        /// The URL as libcurl gets it: what the check has read, and nothing that it has not.
        private(set) var url = ""
        private var urlText = ""
        private var originIsNumeric = false
        private(set) var dialled: DialledHost?
        /// Whether the peer has said, by TLS, that its body ends here; the loop's memory.
        let endNotice: UnsafeMutablePointer<Int32>
        let errorText: UnsafeMutablePointer<CChar>

        var phase = Phase.idle
        var task: CurlTask?
        var attempt = CurlAttempt()

        /// Makes a handle; nil when memory is out.
        static func make(for loop: CurlLoop) -> CurlTransfer? {
            ccurl_easy_init().map { CurlTransfer(easy: $0, loop: loop) }
        }

        private init(easy: OpaquePointer, loop: CurlLoop) {
            self.easy = easy
            self.loop = loop
            endNotice = loop.takeNotice()
            errorText = .allocate(capacity: 256)  // CURL_ERROR_SIZE
            errorText.initialize(repeating: 0, count: 256)
            _ = Unmanaged.passRetained(self)
        }

        deinit {
            errorText.deallocate()
        }

        /// Gives the handle back; it must be in no multi handle and in no callback.
        func free() {
            ccurl_easy_cleanup(easy)
            loop.giveBack(endNotice)
            Unmanaged.passUnretained(self).release()
        }

        var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Takes an attempt on.
        func begin(_ task: CurlTask) throws(RequestFault) {
            let text = task.request.text
            if text != urlText { try read(text) }
            if dialled?.text != task.request.address {
                dialled = try task.request.address.map { address throws(RequestFault) in
                    try DialledHost(address: address)
                }
            }
            // What the handle is set up for was checked when that was done.
            if shape?.method != task.request.method { try RequestCheck.check(task.request.method) }
            let hasSameHeaders = shape?.headers.hasSameBytes(as: task.request.headers) == true
            if !hasSameHeaders {
                for field in task.request.headers.fields { try RequestCheck.check(field) }
            }
            if task.request.body != nil,
                task.request.method == .head || task.request.method == .trace
            {
                throw .body
            }
            self.task = task
            attempt = CurlAttempt(response: ResponseGuard(byteLimit: task.request.headLimit))
            attempt.hasSameHeaders = hasSameHeaders
            attempt.resets = loop.resets
            attempt.connectDeadline = LoopClock.instant(
                task.start, after: task.request.connectTimeout)
            attempt.idleLimit = task.request.idleTimeout.wholeNanoseconds
        }

        /// The name whose addresses libcurl must be given; nil for a numeric one.
        var nameToResolve: String? {
            if let dialled { return dialled.isNumeric ? nil : dialled.host }
            return originIsNumeric ? nil : origin?.host
        }

        private func read(_ text: String) throws(RequestFault) {
            urlText = ""
            let target = try RequestTarget(text: text)
            origin = target.origin
            url = target.urlText
            originIsNumeric = DialledHost.isNumeric(target.origin.host)
            urlText = text
        }

        /// Lets the attempt go, and with it everything that is a caller's.
        func end() {
            attempt.feed?.stop()
            attempt = CurlAttempt()
            task = nil
            phase = .idle
            errorText[0] = 0
        }
    }

    /// What one attempt has seen so far.
    struct CurlAttempt {
        var response = ResponseGuard(byteLimit: 0)
        /// The handle's field lines are the attempt's.
        var hasSameHeaders = false
        /// When the attempt must be connected.
        var connectDeadline = Int64.max
        var idleLimit = Int64.max
        var place = CurlPlace()
        var lastActivity: Int64 = 0
        /// The kernel's unacknowledged bytes when the idle limit last passed.
        var unacknowledged: Int32 = 0
        /// When the attempt began to wait for the addresses of its name.
        var lookupStart: Int64 = 0
        /// How many resets the loop had seen when the attempt began.
        var resets = 0
        /// When the name was known and libcurl took over.
        var handedOver: Int64 = 0
        var firstByte: Int64?
        /// How often the request was written; once at most where libcurl asks before it writes.
        var sends = 0
        /// Whether it went out on a connection that libcurl had made for the attempt.
        var isOnNewConnection = false
        /// The connection that it went out on, where others may send on the same one.
        var connection: ConnectionName?
        /// Another attempt has sent on the connection that was made for this one.
        var isShared = false
        /// The number of its stream on a connection of HTTP/2.
        var stream: UInt32?
        /// libcurl looks for another connection to send the request on again, which it may not.
        var isSentAgain = false
        /// The peer has said that it did nothing with the request.
        var isUnprocessed = false
        /// The peer wants HTTP/1.1 for the request.
        var wantsHTTP1 = false
        /// libcurl has ended it with an error, whatever it came to.
        var isWorn = false
        /// The loop's own reason to stop, whatever libcurl calls it.
        var stop: DataLoaderError?
        var decoder: ContentDecoder?
        /// Whether a body belongs to the head that has come.
        var hasBody = true
        /// The body ends with its connection, and an end of that without a notice is an attack.
        var needsEndNotice = false
        var wireBytes: Int64 = 0
        var decodedBytes: Int64 = 0
        /// libcurl holds body bytes back until it is told to go on.
        var isHeldBack = false
        /// The decoder has bytes that it may not decode before `resume`.
        var isUndecoded = false
        /// libcurl's result, when it came before the held back bytes were decoded.
        var result: Int32?
        /// The response is there, and the request was not sent again for it.
        var isAnswered = false
        /// What had arrived when libcurl closed the connection.
        var lateAnswer: [UInt8] = []
        var data: Data?
        /// How much of the body libcurl has.
        var dataOffset = 0
        var feed: BodyFeed?
    }
#endif
