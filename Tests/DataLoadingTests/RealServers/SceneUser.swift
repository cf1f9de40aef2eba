// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import DataLoadingAuth
    import DataLoading
    import DataLoadingSupport
    import DataLoadingTesting
    import Foundation

    /// Performs one load after the other, with kind and pace chosen by its seed.
    struct SceneUser {
        enum Kind: CaseIterable {
            case whole, awaited, head, missing, chunks, delegateChunks, file
            case post, postFile, postStream, early, put, delete, dropped
        }

        let scene: MixedScene
        let service: DataLoaderService
        var generator: SeededGenerator
        var loader: DataLoader
        var delegate: SceneDelegate

        init(_ scene: MixedScene, _ service: DataLoaderService, seed: UInt64) {
            self.scene = scene
            self.service = service
            generator = SeededGenerator(seed: seed)
            delegate = SceneDelegate(ledger: scene.ledger)
            loader = service.makeFactory().makeDataLoader(delegate: delegate, delivery: .ofTests)
        }

        var ledger: SceneLedger { scene.ledger }

        func run(until end: ContinuousClock.Instant) async {
            var user = self
            service.resolver.setAddresses(
                ["127.0.0.1:\(scene.server.ports.secure)"],
                forHost: "origin.test")
            while ContinuousClock.now < end {
                guard let kind = Kind.allCases.randomElement(using: &user.generator) else { return }
                await user.load(kind)
                await Self.pause(for: SceneSettings.pause)
            }
        }

        private mutating func load(_ kind: Kind) async {
            switch kind {
            case .whole: await whole()
            case .awaited: await awaited()
            case .head: await head()
            case .missing: await missing()
            case .chunks: await chunks()
            case .delegateChunks: await delegateChunks()
            case .file: await file()
            case .post, .postFile, .postStream, .early: await post(kind)
            case .put: await write(.put)
            case .delete: await write(.delete)
            case .dropped: drop()
            }
        }

        mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

        mutating func request(_ path: String, _ method: HTTPMethod = .get) -> DataLoaderRequest {
            let origin = scene.origins.randomElement(using: &generator) ?? ""
            var request = DataLoaderRequest(url: testURL(origin + path), sourceIdentifier: "scene")
            request.method = method
            return request
        }

        mutating func anyFile() -> ServerSite.File {
            // Mostly small files, as in everyday traffic.
            let files: [ServerSite.File] = [
                .small, .small, .small, .small, .medium, .medium, .large,
            ]
            return files.randomElement(using: &generator) ?? .small
        }

        func isRight(_ body: Data?, _ file: ServerSite.File) -> Bool {
            body == scene.server.site.contents[file]
        }

        /// One load in ten is cancelled within 20 ms.
        mutating func cancellation() -> Duration? {
            guard chance(10) else { return nil }
            return .microseconds(Int.random(in: 0..<20_000, using: &generator))
        }

        /// Performs a request with the delegate and cancels it after a while.
        func outcome(
            of request: DataLoaderRequest, cancelledAfter delay: Duration?
        ) async -> (DataLoaderResponse?, Data) {
            _ = ledger.begin()
            return await delegate.outcome(of: request, with: loader) { token in
                guard let delay else { return }
                let nanoseconds = Int(delay / .nanoseconds(1))
                DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                    token.cancel()
                }
            }
        }

        /// Releases a loader with running loads and continues with another loader.
        private mutating func drop() {
            for _ in 0..<3 {
                _ = ledger.begin()
                let load = request("/files/\(anyFile().rawValue)")
                ledger.note { $0.dropped += 1 }
                delegate.letGo(of: load)
                loader.perform(load)
            }
            // The delegate must not be called any more.
            delegate = SceneDelegate(ledger: ledger)
            loader = service.makeFactory().makeDataLoader(delegate: delegate, delivery: .ofTests)
        }
    }
#endif
