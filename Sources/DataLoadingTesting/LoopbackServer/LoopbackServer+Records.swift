// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension LoopbackServer {
    /// The requests whose heads were read, in order of arrival.
    public var requests: [RecordedRequest] {
        recorder.read { $0.requests.newest }
    }

    /// The connections in order of acceptance.
    public var connections: [RecordedConnection] {
        recorder.read { $0.connections.newest }
    }

    /// The number of requests that arrived, including those that are no longer recorded.
    public var requestCount: Int { recorder.count(of: .heads) }

    /// The number of accepted connections.
    public var connectionCount: Int { recorder.count(of: .connections) }

    /// The number of open connections.
    public var openConnectionCount: Int {
        recorder.read { state in
            (state.counts[.connections] ?? 0) - (state.counts[.closedConnections] ?? 0)
        }
    }

    /// Returns when the heads of this many requests were read since the start.
    ///
    /// Like the other waits it returns early when the task is cancelled or the server is stopped.
    public func waitForHeads(_ count: Int) async {
        await recorder.wait(for: count, .heads)
    }

    /// Returns the requests when this many were read to their end, or given up, since the start.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [RecordedRequest] {
        await recorder.wait(for: count, .requests)
        return requests
    }

    /// Returns when this many connections were accepted since the start.
    public func waitForConnections(_ count: Int) async {
        await recorder.wait(for: count, .connections)
    }

    /// Returns the connections when this many were ended, by either side, since the start.
    @discardableResult
    public func waitForClosedConnections(_ count: Int) async -> [RecordedConnection] {
        await recorder.wait(for: count, .closedConnections)
        return connections
    }
}
