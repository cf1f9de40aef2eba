// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Combine
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct DemandPropertyTests {
    /// A subscriber, the server that it reads from, and what must have come by now.
    private struct Scene {
        let bed = TestBed()
        let probe = Probe<Data, DataLoaderError>(demand: .none)
        var sent = 0
        var demanded = 0
        var hasEnded = false

        /// What is wrong, if anything.
        var fault: String? {
            bed.settle()
            let due = min(sent, demanded)
            let isComplete = probe.events.last?.isFinished == true
            if probe.values.count != due { return "\(probe.values.count) pieces instead of \(due)" }
            if isComplete != (hasEnded && due == sent) { return "complete: \(isComplete)" }
            guard let attempt = bed.transport.attempts.first else { return nil }
            let isPaused = attempt.isPaused
            // A piece is as large as the window.
            if !hasEnded, isPaused != (sent > due) { return "paused: \(isPaused)" }
            return nil
        }
    }

    // Pieces as large as the window are not joined, so that they can be counted.
    @Test func `any order of pieces, demands and the end gives what is demanded of what is there`()
        async
    {
        let piece = Data(count: ChunkWindow.size)
        property(cases: min(propertyCases, 200)) { generator in
            var scene = Scene()
            scene.bed.loader.chunkPublisher(for: .make()).subscribe(scene.probe)
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let attempt = scene.bed.transport.attempts.first
                switch Int.random(in: 0...5, using: &generator) {
                case 0...2:
                    let more = Int.random(in: 0...2, using: &generator)
                    scene.probe.request(.max(more))
                    scene.demanded += more
                    scene.bed.settle()
                    if attempt == nil, let new = scene.bed.transport.attempts.first {
                        new.sendHead(status: 200)
                    }
                case 3...4:
                    guard let attempt, !scene.hasEnded else { continue }
                    attempt.send(piece)
                    scene.sent += 1
                default:
                    guard let attempt else { continue }
                    attempt.end()
                    scene.hasEnded = true
                }
                if let fault = scene.fault { return fault }
            }
            scene.probe.cancel()
            scene.bed.expectNothingLeft()
            return nil
        }
    }
}
