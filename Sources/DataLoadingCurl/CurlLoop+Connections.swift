// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The two ends of an open connection, which identify it.
struct ConnectionName: Hashable {
    let localPort: Int
    let peer: [UInt8]
    let peerPort: Int

    // Few connections have the same local port, and equality compares the rest.
    func hash(into hasher: inout Hasher) { hasher.combine(localPort) }
}

extension CurlLoop {
    /// Notes that another attempt sends on a connection that was opened for an attempt.
    func noteSharing(by transfer: CurlTransfer) {
        guard let name = transfer.state.connection else { return }
        if transfer.state.isOnNewConnection {
            connectionOwners[name] = transfer
        } else if let maker = connectionOwners[name], maker !== transfer {
            maker.state.isShared = true
        }
    }

    /// Forgets for which attempt a connection was opened, as that attempt has ended.
    func endSharing(by transfer: CurlTransfer) {
        guard !connectionOwners.isEmpty, let name = transfer.state.connection,
            connectionOwners[name] === transfer
        else { return }
        connectionOwners[name] = nil
    }
}
