// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoading

/// Answers the requests of a server.
///
/// Closures run on the thread of the request's connection, which they may block; `stop()` waits for
/// them. Requests of different connections are answered concurrently.
public struct LoopbackHandler: Sendable {
    /// Answers one request.
    public typealias Answer = @Sendable (RecordedRequest) -> LoopbackResponse

    let answer: Answer
    let answerHead: @Sendable (RecordedRequest) -> LoopbackResponse?

    /// Makes a handler that answers a request when all of it has been read.
    public init(_ answer: @escaping Answer) {
        self.answer = answer
        answerHead = { _ in nil }
    }

    /// Makes a handler that may answer a request's head, before any of its body is read.
    ///
    /// When `head` returns nil, `answer` answers the request. After an early answer the rest of the
    /// body is read and dropped, unless a step ended the connection. `Expect: 100-continue` gets a
    /// 100 only without an early answer.
    public init(
        early head: @escaping @Sendable (RecordedRequest) -> LoopbackResponse?,
        otherwise answer: @escaping Answer
    ) {
        self.answer = answer
        answerHead = head
    }

    /// Gives every request the same answer.
    public static func always(_ response: LoopbackResponse) -> LoopbackHandler {
        LoopbackHandler { _ in response }
    }

    /// Gives the first request the first answer and so on, and repeats the last answer.
    ///
    /// Requests are counted over all connections and paths that this handler serves, so a handler
    /// in a route counts that route's requests. Without answers it sends an empty 200.
    public static func sequence(_ responses: [LoopbackResponse]) -> LoopbackHandler {
        let next = Locked(0)
        return LoopbackHandler { _ in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            return responses.isEmpty ? .ok() : responses[min(index, responses.count - 1)]
        }
    }

    /// Chooses by the target's path as the client sent it, without the query.
    public static func routes(
        _ routes: [String: LoopbackHandler],
        otherwise: LoopbackHandler = .always(.status(404))
    ) -> LoopbackHandler {
        LoopbackHandler { request in
            (routes[request.path] ?? otherwise).answerHead(request)
        } otherwise: { request in
            (routes[request.path] ?? otherwise).answer(request)
        }
    }
}
