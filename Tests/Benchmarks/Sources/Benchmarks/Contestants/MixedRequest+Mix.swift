// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension MixedRequest {
    /// Requests to each of the ports under two names, which differ in method and fields too.
    ///
    /// A client that sends them in turn never sends two alike in a row.
    static func mix(ports: [UInt16]) -> [MixedRequest] {
        fieldSets.flatMap { fields in
            methods.flatMap { method in
                ports.flatMap { port in
                    hosts.map { host in
                        MixedRequest(
                            method: method.name, url: "http://\(host):\(port)\(method.path)",
                            fields: fields, body: method.body)
                    }
                }
            }
        }
    }

    private static let hosts = ["a.test", "b.test"]

    private static let methods: [(name: String, path: String, body: String?)] = [
        ("GET", "/body", nil), ("HEAD", "/body", nil),
        ("POST", "/posted", String(repeating: "y", count: 64)),
    ]

    private static let fieldSets = [
        [],
        [["Accept", "application/json"]],
        [
            ["Accept", "application/json"], ["Accept-Language", "en"],
            ["If-None-Match", "\"no-such-tag\""], ["X-Request-Source", "benchmark"],
        ],
    ]
}
