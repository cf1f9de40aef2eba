// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// The identity of a test's server, with certificates of one test authority.
    final class TestIdentity: Sendable {
        enum Kind: CaseIterable, Sendable {
            case good, expired, wrongHost, selfSigned, strangeAuthority, http2
        }

        /// Every identity, for the host "origin.test"; nil if there is no OpenSSL.
        static let all: [Kind: TestIdentity]? = try? makeAll()

        /// The authority that signed the good identities, in PEM form.
        let authority: Data
        /// The digest of the server's public key in the form of a pin.
        let pin: String
        let ssl: OpenSSL
        nonisolated(unsafe) let context: OpaquePointer

        /// Makes an identity with a certificate, which offers only HTTP/2 if asked to.
        init(_ certificate: TestCertificate, authority: Data, isHTTP2: Bool = false) throws {
            self.authority = authority
            pin = certificate.pin
            ssl = certificate.ssl
            let functions = ssl.connections
            guard let context = functions.newContext(functions.serverMethod()) else {
                throw TestCertificate.Failure.certificate
            }
            self.context = context
            guard functions.useCertificate(context, certificate.certificate) == 1,
                functions.useKey(context, certificate.key) == 1
            else { throw TestCertificate.Failure.certificate }
            if isHTTP2 { functions.setChooser(context, Self.chooseHTTP2, nil) }
        }

        /// Sends another certificate after its own, related or not.
        func append(_ certificate: TestCertificate) throws {
            // SSL_CTRL_CHAIN_CERT, which counts a reference of its own
            let other = UnsafeMutableRawPointer(certificate.certificate)
            guard ssl.connections.control(context, 89, 1, other) == 1 else {
                throw TestCertificate.Failure.certificate
            }
        }

        // Requires a client certificate of an authority, and fails the handshake without one.
        // With `isOld` TLS ends at 1.2, where a client is refused before it sends anything.
        func requireClients(of authority: TestCertificate, isOld: Bool = false) throws {
            let functions = ssl.connections
            // SSL_VERIFY_PEER and SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            functions.setVerification(context, 3, nil)
            guard let authorities = functions.authorities(context),
                functions.addAuthority(authorities, authority.certificate) == 1,
                functions.setSessionContext(context, [1], 1) == 1,
                // SSL_CTRL_SET_MAX_PROTO_VERSION
                !isOld || functions.control(context, 124, 0x0303, nil) == 1
            else { throw TestCertificate.Failure.certificate }
        }

        /// Speaks only one version of TLS: 0x0301 for 1.0 and so on.
        func speak(_ version: Int) throws {
            let functions = ssl.connections
            // SSL_CTRL_SET_MIN_PROTO_VERSION and SSL_CTRL_SET_MAX_PROTO_VERSION
            guard functions.control(context, 123, version, nil) == 1,
                functions.control(context, 124, version, nil) == 1
            else { throw TestCertificate.Failure.certificate }
        }

        /// Chooses "h2" from a client's list, in which each name follows its length.
        private static let chooseHTTP2: OpenSSL.ConnectionFunctions.Chooser = {
            _, chosen, chosenLength, list, length, _ in
            var place = 0
            while let list, place < Int(length) {
                let size = Int(list[place])
                if size == 2, list[place + 1] == 0x68, list[place + 2] == 0x32 {
                    chosen?.pointee = list + place + 1
                    chosenLength?.pointee = 2
                    return 0  // SSL_TLSEXT_ERR_OK
                }
                place += size + 1
            }
            return 3  // SSL_TLSEXT_ERR_NOACK
        }

        deinit {
            ssl.connections.freeContext(context)
        }

        private static func makeAll() throws -> [Kind: TestIdentity] {
            let authority = try TestCertificate("An authority of a test", isAuthority: true)
            let stranger = try TestCertificate("Another authority", isAuthority: true)
            let pem = try authority.pem
            let host = FaultScene.host
            let good = try TestCertificate(host, issuer: authority)
            let certificates: [Kind: TestCertificate] = [
                .good: good, .http2: good,
                .expired: try TestCertificate(
                    host, issuer: authority, lifetime: -172_800...(-86_400)),
                .wrongHost: try TestCertificate("other.test", issuer: authority),
                .selfSigned: try TestCertificate(host),
                .strangeAuthority: try TestCertificate(host, issuer: stranger),
            ]
            var identities: [Kind: TestIdentity] = [:]
            for (kind, certificate) in certificates {
                identities[kind] = try TestIdentity(
                    certificate, authority: pem, isHTTP2: kind == .http2)
            }
            return identities
        }
    }
#endif
