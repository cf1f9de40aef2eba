// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import DataLoadingCurl
    import DataLoadingTransport

    /// A connection to a server, on libcurl.
    final class RedisStream {
        /// How often the process was forked.
        static var forks: Int32 { CurlStream.forks }

        private let stream: CurlStream

        /// Connects; blocks until the handshake is over.
        init(to endpoint: RedisEndpoint, _ configuration: RedisConfiguration) throws(RedisFailure) {
            var target = CurlStream.Target(
                host: "localhost", port: 6_379, isSecure: false,
                connectLimit: configuration.connectLimit)
            switch endpoint.place {
            case .socket(let path): target.socketPath = path
            case .network(let host, let port, let isSecure):
                (target.host, target.port, target.isSecure) = (host, port, isSecure)
                if isSecure { target.trust = configuration.trust?.trust(forHost: host) }
            }
            do throws(DataLoaderError) {
                stream = try CurlStream(to: target)
            } catch {
                throw .connection(error)
            }
        }

        var descriptor: Int32 { stream.descriptor }

        /// Whether any thread may send, one at a time.
        var takesAnyThread: Bool { stream.takesAnyThread }

        /// Sends what the connection takes now; returns the number of bytes.
        func send(_ bytes: [UInt8]) throws(RedisFailure) -> Int {
            do throws(DataLoaderError) {
                return try stream.send(bytes)
            } catch {
                throw .connection(error)
            }
        }

        /// Receives what has come; nothing when there is nothing yet.
        func receive() throws(RedisFailure) -> ArraySlice<UInt8> {
            do throws(DataLoaderError) {
                switch try stream.receive() {
                case .bytes(let bytes): return bytes
                case .nothingYet: return []
                case .end: break
                }
            } catch {
                throw .connection(error)
            }
            throw .closed
        }
    }
#endif
