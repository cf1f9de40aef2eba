// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// A `curl_slist` in one allocation.
///
/// libcurl reads it and makes no copy, so it must outlive the transfer that uses it.
final class CurlStringList {
    private let memory: UnsafeMutableRawPointer

    /// Makes a list of at least one string.
    init(_ texts: [String]) {
        let stride = MemoryLayout<ccurl_list>.stride
        let size = texts.reduce(texts.count * stride) { $0 + $1.utf8.count + 1 }
        memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(size, stride), alignment: MemoryLayout<ccurl_list>.alignment)
        let nodes = memory.assumingMemoryBound(to: ccurl_list.self)
        var position = memory + texts.count * stride
        for (index, text) in texts.enumerated() {
            let next = index + 1 < texts.count ? nodes + index + 1 : nil
            let start = position.assumingMemoryBound(to: CChar.self)
            (nodes + index).initialize(to: ccurl_list(data: start, next: next))
            for byte in text.utf8 {
                position.storeBytes(of: byte, as: UInt8.self)
                position += 1
            }
            position.storeBytes(of: 0, as: UInt8.self)
            position += 1
        }
    }

    deinit {
        memory.deallocate()
    }

    var head: UnsafeRawPointer { UnsafeRawPointer(memory) }
}
