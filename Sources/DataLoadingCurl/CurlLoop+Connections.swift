// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The two ends of an open connection, which identify it.
struct ConnectionName: Hashable {
    let localPort: Int
    let peer: [UInt8]
    let peerPort: Int
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
        guard let name = transfer.state.connection, connectionOwners[name] === transfer else {
            return
        }
        connectionOwners[name] = nil
    }
}

extension CurlTransfer {
    /// The two ends of the connection that libcurl uses for the transfer.
    var connectionName: ConnectionName {
        ConnectionName(
            localPort: long(CurlInfo.localPort), peer: peerAddress,
            peerPort: long(CurlInfo.remotePort))
    }
}
