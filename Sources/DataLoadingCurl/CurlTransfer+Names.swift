// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension CurlTransfer {
    /// Gives libcurl the addresses of the name, so that it does not resolve the name itself.
    func setAddresses(
        _ addresses: String?, port: UInt16, in multi: CurlMulti
    ) throws(DataLoaderError) {
        guard let addresses, case .resolving(let name) = phase else {
            try setLines(nil)
            return try setConnectLimit(false)
        }
        let key = NameEntries.Key(name: name, port: port)
        let use = multi.nameEntries.use(key, addresses: addresses)
        nameUse = use
        try setLines(use.lines)
        // libcurl gives each address but the last half of the limit, so it must know the limit.
        try setConnectLimit(addresses.utf8.contains(UInt8(ascii: ",")))
    }

    /// Notes that the attempt no longer needs the addresses of its name: it sends, or is over.
    func leaveName(sends: Bool) {
        guard let nameUse else { return }
        nameUse.end(sends: sends)
        self.nameUse = nil
    }

    private func setLines(_ lines: [String]?) throws(DataLoaderError) {
        // libcurl may not have read the lines of an attempt that ended early.
        guard lines != nil || resolveList != nil else { return }
        let list = lines.map { CurlStringList($0) }
        try set(CurlOption.resolve, pointer: list?.head)
        resolveList = list
    }

    private func setConnectLimit(_ isLimited: Bool) throws(DataLoaderError) {
        guard isLimited || limitsConnecting else { return }
        let left = LoopClock.milliseconds(until: state.connectDeadline, from: loop.now)
        try set(CurlOption.connectTimeout, isLimited ? Int(max(1, left)) : 0)
        limitsConnecting = isLimited
    }
}
