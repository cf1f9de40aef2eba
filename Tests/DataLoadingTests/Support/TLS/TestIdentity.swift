// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    import Foundation

    /// Who a test's server says that it is, with the certificates of one test authority.
    final class TestIdentity: Sendable {
        enum Kind: CaseIterable, Sendable {
            case good, expired, wrongHost, selfSigned, strangeAuthority
        }

        /// Every identity, for the host "origin.test"; nil where there is no OpenSSL.
        static let all: [Kind: TestIdentity]? = try? makeAll()

        /// The authority that the good ones come from, in PEM form.
        let authority: Data
        /// The digest of the server's public key, as a pin has it.
        let pin: String
        let ssl: OpenSSL
        nonisolated(unsafe) let context: OpaquePointer

        /// Makes an identity that shows a certificate.
        init(_ certificate: TestCertificate, authority: Data) throws {
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
        }

        deinit {
            ssl.connections.freeContext(context)
        }

        private static func makeAll() throws -> [Kind: TestIdentity] {
            let authority = try TestCertificate("An authority of a test", isAuthority: true)
            let stranger = try TestCertificate("Another authority", isAuthority: true)
            let pem = try authority.pem
            let host = FaultScene.host
            let certificates: [Kind: TestCertificate] = [
                .good: try TestCertificate(host, issuer: authority),
                .expired: try TestCertificate(
                    host, issuer: authority, lifetime: -172_800...(-86_400)),
                .wrongHost: try TestCertificate("other.test", issuer: authority),
                .selfSigned: try TestCertificate(host),
                .strangeAuthority: try TestCertificate(host, issuer: stranger),
            ]
            return try certificates.mapValues { try TestIdentity($0, authority: pem) }
        }
    }
#endif
