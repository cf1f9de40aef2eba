// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation
import Testing

/// The stages of a load.
enum Stage: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case authorising
    case waitingForRate
    case waitingForConnection
    case backingOff
    case waitingForConnectivity
    case beforeHead
    case midBody
    case paused
    case discarding
    case decided

    var testDescription: String { rawValue }

    /// Whether an attempt is open.
    var hasAttempt: Bool {
        switch self {
        case .beforeHead, .midBody, .paused, .discarding: true
        default: false
        }
    }

    /// Whether the load is in chunks.
    var isInChunks: Bool { self == .midBody || self == .paused }
}

/// One load that is held at a stage, with a loader that can be released.
final class StagedLoad {
    let stage: Stage
    let bed: TestBed
    /// Holds the load at its stage and authorises nothing at other stages.
    let authoriser: TestAuthoriser
    let delegate = RecordingDelegate(supportsChunks: true)
    let token: CancellationToken
    private(set) var loader: DataLoader?
    private(set) weak var weakLoader: DataLoader?
    private(set) weak var weakLoad: Load?
    private let queue = DispatchQueue(label: "staged")
    private let loaderQueue: DispatchQueue
    private var isBlocked = false

    init(_ stage: Stage, timeout: Duration? = nil) async {
        self.stage = stage
        authoriser = TestAuthoriser(.hold, requires: { _ in stage == .authorising })
        bed = TestBed(
            otherwise: stage == .waitingForConnectivity ? .fail(.connectRefused) : .hold,
            authorisers: [authoriser]
        ) { configuration in
            if stage == .waitingForRate {
                configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 0)
            }
            configuration.limits.perOrigin = 1
        }
        if stage == .waitingForConnection {
            // Another load has the only connection.
            let other = bed.service.makeFactory().makeDataLoader()
            other.perform(.make("/blocker"))
            bed.hold(other)
        }
        let loader = bed.factory.makeDataLoader(
            delegate: delegate, delegateQueue: queue, delivery: .ofTests)
        loaderQueue = loader.queue
        let request = DataLoaderRequest.make("/staged") { request in
            request.timeout = timeout
            request.chunks = stage.isInChunks
            request.waitsForConnectivity = stage == .waitingForConnectivity
            if stage == .backingOff || stage == .discarding {
                request.retryPolicy = .constant(.seconds(10), maximumRetries: 5)
            }
        }
        token = loader.perform(request)
        self.loader = loader
        weakLoader = loader
        weakLoad = loader.registry.loads.first
        await arrive()
    }

    private func arrive() async {
        switch stage {
        case .authorising:
            _ = await authoriser.held(1)
        case .waitingForRate, .waitingForConnection:
            break
        case .backingOff:
            await bed.attempt(0).fail(.connectRefused)
        case .waitingForConnectivity:
            _ = await delegate.events(1)
        case .beforeHead:
            _ = await bed.attempt(0)
        case .midBody:
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 200)
            attempt.send(patternBytes(1_000))
        case .paused:
            let attempt = await bed.attempt(0)
            block()
            attempt.sendHead(status: 200)
            attempt.send(patternBytes(ChunkWindow.size))
        case .discarding:
            let attempt = await bed.attempt(0)
            attempt.sendHead(status: 503)
            attempt.send(patternBytes(100))
        case .decided:
            let attempt = await bed.attempt(0)
            block()
            attempt.respond(status: 200, body: patternBytes(10))
        }
        settle()
    }

    private func block() {
        loaderQueue.sync {}
        queue.suspend()
        isBlocked = true
    }

    /// The attempt that is open.
    var attempt: ScriptedAttempt? {
        stage.hasAttempt ? bed.transport.attempts.last : nil
    }

    /// Resumes the delegate queue and waits for its work.
    func settle(releasing: Bool = false) {
        if releasing, isBlocked {
            queue.resume()
            isBlocked = false
        }
        for _ in 0..<3 {
            bed.settle()
            if !isBlocked { loaderQueue.sync {} }
        }
        bed.settle()
    }

    /// Releases the loader, as its owner would.
    func drop() { loader = nil }

    /// Ends the load of another user that had the only connection.
    func endBlocker() {
        guard stage == .waitingForConnection else { return }
        bed.transport.attempts.first?.respond(status: 200)
        bed.settle()
    }

    /// The last calls of the load.
    var outcomes: [RecordingDelegate.Event] { delegate.events.filter(\.isTerminal) }

    /// What the observer was told of the load.
    var reports: [DataLoaderResponse] {
        bed.observer.entries.map(\.response).filter { $0.request.url.path == "/staged" }
    }

    deinit {
        // A suspended queue must not be released.
        if isBlocked { queue.resume() }
    }
}
