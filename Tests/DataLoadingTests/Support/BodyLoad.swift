// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Foundation

/// How a load delivers its body.
enum BodyMode: CaseIterable, Sendable {
    case whole, chunks, file, closure
}

/// One load whose body is collected in any mode.
struct BodyLoad {
    let bed: TestBed
    private let heard = EventRecorder<Data>()
    private let directory = TemporaryDirectory()
    private let mode: BodyMode

    init(
        _ mode: BodyMode, _ answers: [ScriptedAnswer], otherwise: ScriptedAnswer = .fail(.dns),
        retries: Int = 3, _ change: (inout DataLoaderRequest) -> Void = { _ in }
    ) {
        self.mode = mode
        bed = TestBed(answers, otherwise: otherwise)
        let (heard, file) = (heard, directory.url("file"))
        bed.loader.perform(
            .make { request in
                request.retryPolicy = .immediately(maximumRetries: retries)
                request.chunks = mode == .chunks
                if mode == .file { request.responseSink = .file(file) }
                if mode == .closure { request.responseSink = .closure { heard.record($0) } }
                change(&request)
            })
    }

    func outcome() async -> DataLoaderResponse? { await bed.outcome()?.response }

    /// The delivered body; nil if the mode delivers only whole bodies and there is none.
    var body: Data? {
        switch mode {
        case .whole: bed.delegate.events.last?.response?.body
        case .chunks: bed.delegate.body
        case .file: try? Data(contentsOf: directory.url("file"))
        case .closure: heard.elements.reduce(into: Data()) { $0 += $1 }
        }
    }

    var isRestartable: Bool { mode == .whole || mode == .file }
}
