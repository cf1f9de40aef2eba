// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingOperations
import DataLoadingSupport
@testable import DataLoadingTransport
import DataLoadingTesting
import Testing

@Suite struct HostTableTests {
    private let table = HostTable([
        "api.test", "https://feeds.test/path", "ports.test:8443", "http://ports.test:9090",
        "[2001:db8::1]:8080", "127.0.0.1", "no host", "", "http://user@secret.test",
    ])

    private func text(_ url: String) -> String {
        table.labels(table.label(forURL: url)).map(\.value).joined(separator: " ")
    }

    @Test(arguments: [
        ("https://api.test", "api.test 443"),
        ("https://api.test/a:b@c", "api.test 443"),
        ("http://api.test:80?q=https://other.test", "api.test 80"),
        ("HTTPS://API.Test#f", "api.test 443"),
        ("https://api.test:", "api.test 443"),
        ("https://api.test:8443/", "_OTHER"),
        ("https://feeds.test/elsewhere", "feeds.test 443"),
        ("https://ports.test:8443/", "ports.test 8443"),
        ("http://ports.test:9090/", "ports.test 9090"),
        ("https://ports.test/", "ports.test 443"),
        ("http://[2001:db8::1]:8080/", "2001:db8::1 8080"),
        ("http://[2001:db8::1]/", "2001:db8::1 80"),
        ("http://127.0.0.1/", "127.0.0.1 80"),
        ("https://secret.test/", "_OTHER"),
        ("https://api.test.evil.test/", "_OTHER"),
        ("https://user@api.test/", "_OTHER"),
        ("https://api.test:99999999999999999999/", "_OTHER"),
        ("https://api.test:65536/", "_OTHER"),
        ("ftp://api.test/", "_OTHER"),
        ("https:/api.test/", "_OTHER"),
        ("api.test", "_OTHER"),
        ("", "_OTHER"),
        ("https://", "_OTHER"),
        ("https://]:", "_OTHER"),
    ]) func `a URL has the label of its host and port, if these are configured`(
        _ url: String, _ label: String
    ) {
        #expect(text(url) == label)
        // A load asks with the origin of its request, which has none for what is no URL.
        let origin = (try? RequestTarget(text: url))?.origin
        #expect(table.label(of: origin) == table.label(forURL: url))
    }

    @Test func `a URL has its label whatever was asked before it`() {
        let hosts = (0..<12).map { "h\($0).test" }
        let urls = hosts.flatMap { host in
            [host, host.uppercased(), host + ":80", host + ".evil.test"].flatMap { authority in
                ["http://\(authority)/", "https://\(authority)?y/x", "http://\(authority)"]
            }
        }
        let expected = urls.map { HostTable(hosts).label(forURL: $0) }
        #expect(Set(expected).count == 25)
        let table = HostTable(hosts)
        for _ in 0..<2 {
            #expect(urls.map { table.label(forURL: $0) } == expected)
            let origins = urls.map { (try? RequestTarget(text: $0))?.origin }
            #expect(origins.map { table.label(of: $0) } == expected)
        }
    }

    @Test func `the host that is found is the one to which a request goes`() {
        let letters = Array("aA1-.:/[]@%?#_é ")
        property { generator in
            let rest = String((0..<12).map { _ in letters.randomElement(using: &generator) ?? "a" })
            let text = "http://" + rest
            guard let origin = (try? RequestTarget(text: text))?.origin else { return nil }
            let table = HostTable([origin.description])
            let label = table.label(forURL: origin.description + "/x")
            return label == HostLabel(index: 0, port: origin.port) ? nil : "\(text) has \(label)"
        }
    }

    @Test func `a table has at most 64 hosts, and each further port counts as one`() {
        let hosts = (0..<100).flatMap { ["h\($0).test:1", "h\($0).test:2"] }
        let table = HostTable(hosts)
        let known = hosts.map { table.label(forURL: "https://\($0)/") }.filter { $0 != .other }
        #expect(Set(known).count == 64)
        #expect(Set(known.map(\.index)).count == 32)
        #expect(table.label(forURL: "https://h31.test:2/") == HostLabel(index: 31, port: 2))
        #expect(table.label(forURL: "https://h32.test/") == .other)
    }

    @Test func `hosts that are added later take what room is left, and move no others`() {
        let table = HostTable((0..<62).map { "h\($0).test" })
        let copy = table
        let first = table.label(forURL: "https://h0.test/")
        #expect(table.label(forURL: "https://new.test/") == .other)
        table.add(["h0.test", "no host", "new.test", "http://new.test", "h1.test:9", "late.test"])
        #expect(table.label(forURL: "https://h0.test/") == first)
        #expect(copy.label(forURL: "https://new.test/") == HostLabel(index: 62, port: 443))
        #expect(copy.label(forURL: "http://h1.test:9/") == HostLabel(index: 1, port: 9))
        #expect(table.label(forURL: "https://late.test/") == .other)
        #expect(copy.addressLabel(HostLabel(index: 62, port: 80)).value == "new.test")
        for url in ["https://new.test/", "http://h1.test:9/", "https://late.test/"] {
            let origin = (try? RequestTarget(text: url))?.origin
            #expect(table.label(of: origin) == table.label(forURL: url))
        }
    }
}
