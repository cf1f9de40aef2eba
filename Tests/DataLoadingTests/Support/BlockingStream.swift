// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Dispatch
import Foundation

/// A stream whose first read blocks until the test continues it.
final class BlockingStream: Sendable {
    let reached = LoopbackGate()
    let mayGoOn = DispatchSemaphore(value: 0)
    private let data: Data

    init(data: Data) {
        self.data = data
    }

    var opened: InputStream { Stream(data: data, reached: reached, mayGoOn: mayGoOn) }

    private final class Stream: InputStream {
        private let reached: LoopbackGate
        private let mayGoOn: DispatchSemaphore
        private var rest: Data

        init(data: Data, reached: LoopbackGate, mayGoOn: DispatchSemaphore) {
            self.reached = reached
            self.mayGoOn = mayGoOn
            rest = data
            super.init(data: Data())
        }

        override func open() {}
        override func close() {}
        override var streamStatus: Foundation.Stream.Status { .open }
        override var hasBytesAvailable: Bool { true }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            guard let first = rest.popFirst() else { return 0 }
            if rest.isEmpty {
                reached.open()
                mayGoOn.wait()
            }
            buffer.pointee = first
            return 1
        }
    }
}
