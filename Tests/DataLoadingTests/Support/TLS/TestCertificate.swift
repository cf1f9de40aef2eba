// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// A key with a certificate, made on the spot.
    final class TestCertificate: Sendable {
        enum Failure: Error {
            case noOpenSSL, key, certificate
        }

        let ssl: OpenSSL
        // Never changed once made; OpenSSL counts references in a way that threads may share.
        nonisolated(unsafe) let key: OpaquePointer
        nonisolated(unsafe) let certificate: OpaquePointer

        /// Makes a certificate.
        ///
        /// - Parameters:
        ///   - name: The subject, and for a server the host that it is good for.
        ///   - issuer: Who signs it; nil for itself.
        ///   - isAuthority: Whether it may sign others.
        ///   - lifetime: The seconds from now at which it begins and ends to be good.
        /// - Throws: `Failure` where there is no OpenSSL or it refuses.
        init(
            _ name: String, issuer: TestCertificate? = nil, isAuthority: Bool = false,
            lifetime: ClosedRange<Int> = -86_400...86_400
        ) throws {
            guard let ssl = OpenSSL.shared else { throw Failure.noOpenSSL }
            self.ssl = ssl
            key = try Self.makeKey(ssl.certificates)
            guard let certificate = ssl.certificates.new() else { throw Failure.certificate }
            self.certificate = certificate
            try describe(name, lifetime: lifetime, isAuthority: isAuthority)
            let functions = ssl.certificates
            let signer = issuer ?? self
            guard functions.setIssuer(certificate, functions.subject(signer.certificate)) == 1,
                functions.sign(certificate, signer.key, functions.sha256()) > 0
            else { throw Failure.certificate }
        }

        deinit {
            ssl.certificates.free(certificate)
            ssl.certificates.freeKey(key)
        }

        /// The certificate in PEM form.
        var pem: Data {
            get throws { try written { ssl.certificates.writePEM($0, certificate) } }
        }

        /// The key in PEM form, encrypted where there is a passphrase.
        func keyPEM(passphrase: String? = nil) throws -> Data {
            let functions = ssl.certificates
            let secret = Array((passphrase ?? "").utf8)
            return try written { buffer in
                passphrase == nil
                    ? functions.writeKey(buffer, key, nil, nil, 0, nil, nil)
                    : functions.writeKey(
                        buffer, key, functions.aes256(), secret, Int32(secret.count), nil, nil)
            }
        }

        private func written(by write: (OpaquePointer) -> Int32) throws -> Data {
            let connections = ssl.connections
            guard let buffer = connections.newBuffer(connections.memory()) else {
                throw Failure.certificate
            }
            defer { _ = connections.freeBuffer(buffer) }
            guard write(buffer) == 1 else { throw Failure.certificate }
            var text = Data(count: 8_192)
            let count = text.withUnsafeMutableBytes {
                connections.readBuffer(buffer, $0.baseAddress, Int32($0.count))
            }
            return text.prefix(Int(max(0, count)))
        }

        /// The digest of the public key, as a pin has it.
        var pin: String {
            let functions = ssl.certificates
            let length = Int(max(0, functions.encodePublicKey(key, nil)))
            var encoded = [UInt8](repeating: 0, count: length)
            var digest = [UInt8](repeating: 0, count: 32)
            encoded.withUnsafeMutableBufferPointer { buffer in
                var place = buffer.baseAddress
                _ = functions.encodePublicKey(key, &place)
            }
            _ = functions.digest(encoded, encoded.count, &digest)
            return Data(digest).base64EncodedString()
        }

        private static func makeKey(_ functions: OpenSSL.CertificateFunctions) throws
            -> OpaquePointer
        {
            // EVP_PKEY_EC on the curve P-256.
            guard let context = functions.newKeyContext(408, nil) else { throw Failure.key }
            defer { functions.freeKeyContext(context) }
            var key: OpaquePointer?
            guard functions.startKey(context) == 1,
                functions.controlKey(context, 408, -1, 0x1001, 415, nil) > 0,
                functions.makeKey(context, &key) == 1, let key
            else { throw Failure.key }
            return key
        }

        private func describe(
            _ name: String, lifetime: ClosedRange<Int>, isAuthority: Bool
        ) throws {
            let functions = ssl.certificates
            var extensions: [(Int32, String)] = [
                (87, isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
            ]
            if !isAuthority { extensions.append((85, "DNS:\(name)")) }
            let number = Int.random(in: 1...0x7FFF_FFFF)
            guard functions.setVersion(certificate, 2) == 1,
                functions.setInteger(functions.serialNumber(certificate), number) == 1,
                functions.adjustTime(functions.notBefore(certificate), lifetime.lowerBound) != nil,
                functions.adjustTime(functions.notAfter(certificate), lifetime.upperBound) != nil,
                // MBSTRING_ASC
                functions.addEntry(functions.subject(certificate), "CN", 0x1001, name, -1, -1, 0)
                    == 1,
                functions.setPublicKey(certificate, key) == 1
            else { throw Failure.certificate }
            for (identifier, value) in extensions {
                guard let made = functions.makeExtension(nil, nil, identifier, value) else {
                    throw Failure.certificate
                }
                defer { functions.freeExtension(made) }
                guard functions.addExtension(certificate, made, -1) == 1 else {
                    throw Failure.certificate
                }
            }
        }
    }
#endif
