// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading

/// The clients that are compared; their names are those in the JSON file.
enum Contestant: String, CaseIterable, Codable, Sendable {
    case dataLoading = "DataLoading"
    case direct = "DataLoading direct"
    case awaited = "DataLoading await"
    case executed = "DataLoading executor"
    case epoll
    case libcurl
    case tuned = "libcurl tuned"
    case urlSession = "URLSession"
    case asyncHTTPClient = "AsyncHTTPClient"

    /// The clients that this build contains.
    static var available: [Contestant] {
        #if BENCHMARK_PEERS
            allCases
        #else
            allCases.filter { $0 != .asyncHTTPClient }
        #endif
    }

    /// The number of loads in a round of one to three seconds.
    var requestsPerRound: Int {
        switch self {
        case .epoll: 48_000
        case .dataLoading, .direct, .awaited, .executed, .libcurl, .tuned: 24_000
        case .asyncHTTPClient: 12_000
        case .urlSession: 2_400
        }
    }

    /// Makes the client; nil when what it needs is missing.
    func makeClient(_ workload: Workload) -> (any Client)? {
        switch self {
        case .dataLoading: return DataLoadingClient(workload)
        case .direct: return DataLoadingClient(workload, delivery: .direct)
        case .awaited: return AwaitingClient(workload)
        case .executed: return AwaitingClient(workload, onTransportsThread: true)
        case .epoll: return BareEpollClient(workload)
        case .libcurl: return BareCurlClient(workload)
        case .tuned: return BareCurlClient(workload, isTuned: true)
        case .urlSession: return URLSessionClient(workload)
        case .asyncHTTPClient:
            #if BENCHMARK_PEERS
                return AsyncHTTPClientClient(workload)
            #else
                return nil
            #endif
        }
    }
}
