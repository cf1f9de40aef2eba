// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    /// A connection by its two ends, while it is open.
    struct ConnectionName: Hashable {
        let localPort: Int
        let peer: [UInt8]
        let peerPort: Int
    }

    extension CurlLoop {
        /// Notes that the maker of a connection, on which an attempt sends, does not have it alone.
        func noteSharing(by transfer: CurlTransfer) {
            guard let name = transfer.attempt.connection else { return }
            if transfer.attempt.isOnNewConnection {
                makers[name] = transfer
            } else if let maker = makers[name], maker !== transfer {
                maker.attempt.isShared = true
            }
        }

        /// Forgets that a connection was made for an attempt, which has ended.
        func endSharing(by transfer: CurlTransfer) {
            guard let name = transfer.attempt.connection, makers[name] === transfer else { return }
            makers[name] = nil
        }

        /// Notes that a peer has worked on no stream of a connection that follows another.
        func noteUnprocessed(after last: UInt32, on connection: ConnectionName) {
            if http2Sockets.values.contains(where: { $0.name == connection }) {
                lastStreams[connection] = last
            }
            for transfer in running.values where transfer.attempt.connection == connection {
                if let key = transfer.attempt.place.route {
                    routes.mayHaveEnded(connection, key)
                }
                guard let stream = transfer.attempt.stream, stream > last else { continue }
                transfer.attempt.isUnprocessed = true
            }
        }

        /// Notes the number of an attempt's stream, on a connection whose peer may want no more of them.
        ///
        /// libcurl may take one for it all the same, and then end the attempt as if it had been sent.
        func noteStream(_ stream: UInt32?, of transfer: CurlTransfer) {
            guard let stream else { return }
            transfer.attempt.stream = stream
            guard let name = transfer.attempt.connection, let last = lastStreams[name] else {
                return
            }
            if stream > last { transfer.attempt.isUnprocessed = true }
        }
    }

    extension CurlTransfer {
        /// The connection that libcurl has for the transfer.
        var connectionName: ConnectionName {
            ConnectionName(
                localPort: long(CurlInfo.localPort), peer: peerAddress,
                peerPort: long(CurlInfo.remotePort))
        }
    }
#endif
