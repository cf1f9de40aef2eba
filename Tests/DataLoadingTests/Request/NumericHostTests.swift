// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
@testable import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// https://url.spec.whatwg.org/#host-parsing, RFC 5952
@Suite struct NumericHostTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"), ("0X7F.0.0.1", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"), ("0", "0.0.0.0"), ("0x", "0.0.0.0"), ("1.2.3", "1.2.0.3"),
        ("1.2.65535", "1.2.255.255"), ("1.16777215", "1.255.255.255"),
        ("4294967295", "255.255.255.255"), ("0xffffffff", "255.255.255.255"),
        ("00.00.00.00", "0.0.0.0"), ("0300.0250.1.2", "192.168.1.2"),
        ("[::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]", "[::1]"), ("[2001:DB8:0::1]", "[2001:db8::1]"),
        ("[2001:0db8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"),
        ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
        ("[2001:0:0:1:0:0:0:1]", "[2001:0:0:1::1]"), ("[0:0::]", "[::]"),
        ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"), ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
        ("[::FFFF:7f00:1]", "[::ffff:127.0.0.1]"), ("[64:ff9b::1.2.3.4]", "[64:ff9b::102:304]"),
    ])
    func `a numeric host has one canonical spelling`(text: String, host: String) throws {
        let target = try RequestTarget(text: "https://\(text)/")
        #expect(target.origin.host == host)
        #expect(target.urlText == "https://\(host)/")
        #expect(try RequestTarget(text: target.urlText) == target)
    }

    @Test(arguments: [
        "300.300.300.300", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "1.2.65536", "4294967296",
        "0x100000000", "1..2", "1.2.3.08", "0x7g.1", "a.1", "host.0x1", ".1", "1.2.3.4..",
        "999999999999999999999",
        "[1]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[::1::]", "[1:2:3:4:5:6:7:8::]",
        "[12345::]", "[:1]", "[1:]", "[:::]", "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]",
        "[1.2.3.4::]", "[::1.2.3.4.5]", "[1:2:3:4:5:6:7:1.2.3.4]", "[.]", "[::1.]",
    ])
    func `a malformed numeric host is refused`(text: String) {
        #expect(throws: RequestFault.host) { try RequestTarget(text: "http://\(text)/") }
    }

    @Test(arguments: [
        "1a.test", "127.0.0.1.test", "0x7f.test", "1.2.3.4a", "a1", "x.1y", "h.", "0xg",
    ])
    func `a host name with numbers in it is left unchanged`(text: String) throws {
        #expect(try RequestTarget(text: "http://\(text)/").origin.host == text)
    }

    @Test func `a pin, a rate and an address apply to every spelling of a host`() throws {
        let policy = ServerTrustPolicy(pinnedPublicKeys: [
            "127.0.0.1": [String](repeating: "", count: 0)
        ])
        for spelling in ["127.1", "2130706433", "0x7f.1", "0177.0.0.1"] {
            let origin = try RequestTarget(text: "https://\(spelling)/").origin
            #expect(policy.trust(forHost: origin.host).pins == [])
            let resolver = HostResolver()
            resolver.setAddresses(["127.2:81"], forHost: spelling)
            #expect(resolver.address(forHost: "127.0.0.1") == "127.0.0.2:81")
        }
    }
}
