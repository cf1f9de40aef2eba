// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSockets
import Foundation

extension ListeningSocket {
    /// Makes the socket of a loopback server, which does not listen yet.
    static func make(
        _ configuration: LoopbackServer.Configuration, port: UInt16
    ) throws -> (descriptor: Int32, port: UInt16) {
        let address: SocketAddress
        if let path = configuration.unixSocket {
            address = try SocketAddress(path: path)
            // What a server has left cannot be bound again.
            unlink(path)
        } else {
            address = try SocketAddress(host: configuration.host, port: port)
        }
        let descriptor = try make(
            boundTo: address, receiveBufferSize: configuration.receiveBufferSize,
            sendBufferSize: configuration.sendBufferSize)
        do {
            let isLocal = configuration.unixSocket != nil
            return (descriptor, isLocal ? 0 : try SocketAddress(boundTo: descriptor).port)
        } catch {
            SystemCall.release(descriptor)
            throw error
        }
    }
}
