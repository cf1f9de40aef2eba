// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The behaviour of a server on its connections.
public struct LoopbackScript: Sendable {
    enum Plan: Sendable {
        case serve(LoopbackHandler)
        case steps([LoopbackStep])
        case choose(@Sendable (Int) -> LoopbackScript)
        case converse(@Sendable (any ByteStream) throws -> Void)
    }

    let plan: Plan

    /// Reads requests and answers them.
    public static func serve(_ handler: LoopbackHandler) -> LoopbackScript {
        LoopbackScript(plan: .serve(handler))
    }

    /// Gives a connection's first request the first answer and so on, and repeats the last one.
    ///
    /// For a stale keep-alive connection: `.answers([.ok("a"), .steps(.reset)])`.
    public static func answers(_ responses: [LoopbackResponse]) -> LoopbackScript {
        serve(
            LoopbackHandler { request in
                let last = responses.count - 1
                return last < 0 ? .ok() : responses[min(request.indexOnConnection, last)]
            })
    }

    /// Runs steps right after the connection was accepted, without reading, and closes it.
    public static func steps(_ steps: LoopbackStep...) -> LoopbackScript {
        LoopbackScript(plan: .steps(steps))
    }

    /// Chooses by the number of the connection, counted from 0 in the order of acceptance.
    ///
    /// The closure is called once per connection, on the connection's thread.
    public static func perConnection(
        _ choose: @escaping @Sendable (_ number: Int) -> LoopbackScript
    ) -> LoopbackScript {
        LoopbackScript(plan: .choose(choose))
    }

    /// Runs code on the bytes of the connection, for protocols other than HTTP/1, and closes it.
    package static func converse(
        _ body: @escaping @Sendable (any ByteStream) throws -> Void
    ) -> LoopbackScript {
        LoopbackScript(plan: .converse(body))
    }

    /// Closes the connection at once.
    public static let close = steps(.close)

    /// Resets the connection at once.
    public static let reset = steps(.reset)

    /// Accepts, and neither reads nor writes until the client closes.
    public static let silent = steps(.stall)
}
