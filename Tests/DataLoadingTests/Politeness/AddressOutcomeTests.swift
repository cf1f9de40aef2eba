// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import Testing

/// What an attempt says about the address that it was sent to.
@Suite struct AddressOutcomeTests {
    @Test func `an address tells why it last failed, for as long as a host lists it`() {
        let resolver = HostResolver()
        resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
        func report(_ address: String, _ outcome: AddressOutcome) {
            resolver.report(.address(address), forHost: "a.test", outcome: outcome)
        }
        var failures: [String?] { resolver.addressStates.map(\.lastFailure) }
        #expect(failures == [nil, nil, nil])
        report("10.0.0.1", .unreachable)
        report("10.0.0.2", .unavailable)
        #expect(failures == ["connect_refused", "503", nil])
        report("10.0.0.1", .success)
        #expect(failures == ["connect_refused", "503", nil])
        resolver.setAddresses(["10.0.0.2"], forHost: "a.test")
        resolver.setAddresses(["10.0.0.1", "10.0.0.2"], forHost: "a.test")
        #expect(failures == [nil, "503", nil])
    }

    @Test func `only failures of the address itself count against an address`() {
        func outcome(
            _ error: DataLoaderError, _ sent: SentState = .nothingWritten, reused: Bool = false
        ) -> AddressOutcome {
            var report = TransportReport()
            report.reusedConnection = reused
            return AddressOutcome(TransportFailure(error, sent: sent, report: report))
        }
        func unreachable(_ name: ErrorName) -> AddressOutcome { .nothingWritten(.error(name)) }
        #expect(outcome(.dns) == unreachable(.dns))
        #expect(outcome(.connectRefused) == unreachable(.connectRefused))
        #expect(outcome(.connectTimeout) == unreachable(.connectTimeout))
        #expect(outcome(.tls) == unreachable(.tls))
        #expect(outcome(.pin) == unreachable(.pin))
        #expect(outcome(.certificate(reason: "")) == unreachable(.certificate))
        #expect(outcome(.connectionReset) == unreachable(.connectionReset))
        #expect(outcome(.connectionReset, reused: true) == .neutral)
        #expect(outcome(.connectionReset, .written) == .neutral)
        #expect(outcome(.idleTimeout, .written) == .serverTrouble(.error(.idleTimeout)))
        #expect(outcome(.resources(reason: "")) == .neutral)
        #expect(outcome(.cancelled) == .neutral)
        #expect(outcome(.http2(reason: "REFUSED_STREAM")) == .neutral)
        for status in [502, 503, 504].map(HTTPStatus.init(rawValue:)) {
            #expect(AddressOutcome(status) == .serverTrouble(.status(status)))
        }
        for status in [200, 304, 404, 429, 500] {
            #expect(AddressOutcome(HTTPStatus(rawValue: status)) == .success)
        }
    }
}

extension AddressOutcome {
    static let unreachable = Self.nothingWritten(.error(.connectRefused))
    static let unavailable = Self.serverTrouble(.status(.serviceUnavailable))
}
