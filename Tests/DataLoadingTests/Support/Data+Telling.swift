// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTesting
import Foundation

extension Data {
    /// 100,000 bytes that record when they are freed.
    static func telling(_ freed: EventRecorder<Void>) -> Data {
        let count = 100_000
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        return Data(
            bytesNoCopy: bytes, count: count,
            deallocator: .custom { pointer, _ in
                pointer.deallocate()
                freed.record(())
            })
    }
}
