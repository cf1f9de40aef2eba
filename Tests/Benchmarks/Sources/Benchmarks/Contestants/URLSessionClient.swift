// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Synchronization

/// URLSession with a delegate, which is cheaper than async and does not hang when cancelled.
final class URLSessionClient: NSObject, Client, URLSessionDataDelegate {
    private let workload: Workload
    private let request: URLRequest
    private let round = Mutex<Round?>(nil)
    private let session = Mutex<URLSession?>(nil)

    init?(_ workload: Workload) {
        guard let url = URL(string: workload.url) else { return nil }
        self.workload = workload
        var request = URLRequest(url: url)
        request.setValue(Workload.field.value, forHTTPHeaderField: Workload.field.name)
        self.request = request
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = workload.concurrency
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(
            configuration: configuration, delegate: self, delegateQueue: queue)
        self.session.withLock { $0 = session }
    }

    func run(_ requests: Int) async -> Int {
        let round = Round(requests)
        self.round.withLock { $0 = round }
        return await round.run(workload.concurrency) { self.startOne() }
    }

    private func startOne() {
        session.withLock { $0 }?.dataTask(with: request).resume()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let status = (task.response as? HTTPURLResponse)?.statusCode
        guard let round = round.withLock({ $0 }) else { return }
        if round.endedOne(isFailure: error != nil || status != 200) { startOne() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}
