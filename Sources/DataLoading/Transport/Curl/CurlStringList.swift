// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    import CCurl

    /// A `curl_slist` in one allocation.
    ///
    /// libcurl reads it and keeps no copy, so it must outlive the transfer that it is given to.
    final class CurlStringList {
        private let memory: UnsafeMutableRawPointer

        /// Makes a list of at least one text.
        init(_ texts: [String]) {
            let stride = MemoryLayout<ccurl_list>.stride
            let size = texts.reduce(texts.count * stride) { $0 + $1.utf8.count + 1 }
            memory = UnsafeMutableRawPointer.allocate(
                byteCount: max(size, stride), alignment: MemoryLayout<ccurl_list>.alignment)
            let nodes = memory.assumingMemoryBound(to: ccurl_list.self)
            var place = memory + texts.count * stride
            for (index, text) in texts.enumerated() {
                let next = index + 1 < texts.count ? nodes + index + 1 : nil
                let start = place.assumingMemoryBound(to: CChar.self)
                (nodes + index).initialize(to: ccurl_list(data: start, next: next))
                for byte in text.utf8 {
                    place.storeBytes(of: byte, as: UInt8.self)
                    place += 1
                }
                place.storeBytes(of: 0, as: UInt8.self)
                place += 1
            }
        }

        deinit {
            memory.deallocate()
        }

        var head: UnsafeRawPointer { UnsafeRawPointer(memory) }
    }
#endif
