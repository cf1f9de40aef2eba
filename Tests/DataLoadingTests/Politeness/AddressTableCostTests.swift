// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import Testing

@Suite struct AddressTableCostTests {
    @Test func `the addresses of 10,000 hosts are set and forgotten within seconds`() {
        let resolver = HostResolver()
        let time = processorTime {
            for number in 0..<10_000 {
                resolver.setAddresses(
                    ["10.0.\(number / 250).\(number % 250)", "10.1.0.1"],
                    forHost: "host\(number).test")
            }
            for number in 0..<10_000 {
                resolver.setAddresses([], forHost: "host\(number).test")
            }
        }
        #expect(time < .seconds(4) * patience)
    }
}
