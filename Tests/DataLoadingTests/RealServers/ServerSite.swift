// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// What every server of a scene serves, its certificate, and the files of its logs.
    final class ServerSite: Sendable {
        /// A text, which nginx compresses; a short one; bytes that no server compresses.
        enum File: String, CaseIterable, Sendable {
            case small = "small.txt", medium = "medium.txt", large = "large.bin"

            private var lines: Int {
                switch self {
                case .small: 5
                case .medium: 4_000
                case .large: 60_000
                }
            }

            /// Numbered lines, so that a lost, repeated or moved piece is detected.
            fileprivate var content: Data {
                Data((0..<lines).map { "\(rawValue), line \($0)\n" }.joined().utf8)
            }
        }

        private let temporary = TemporaryDirectory()
        let contents: [File: Data]

        var directory: URL { temporary.url }
        var path: String { temporary.url.path }

        init() throws {
            contents = Dictionary(uniqueKeysWithValues: File.allCases.map { ($0, $0.content) })
            let files = temporary.url("www/files")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            for (file, content) in contents {
                try content.write(to: files.appendingPathComponent(file.rawValue))
            }
            let openssl = try ServerProcess(
                ["/bin/bash", "-c", Self.certificates], in: temporary.url, log: "openssl.log")
            while !openssl.isGone { usleep(1_000) }
            openssl.signal(SIGKILL, toAll: true)
            _ = try authority
        }

        /// The certificate of the authority, in PEM form.
        var authority: Data { get throws { try Data(contentsOf: temporary.url("ca.pem")) } }

        func write(_ text: String, to name: String) throws {
            try text.write(to: temporary.url(name), atomically: true, encoding: .utf8)
        }

        /// The lines of a log that contain the number of a POST, by number.
        func posts(in log: String) -> [Int: [String]] {
            let text = (try? String(contentsOf: temporary.url(log), encoding: .utf8)) ?? ""
            var lines: [Int: [String]] = [:]
            for line in text.split(separator: "\n") {
                guard let range = line.range(of: "?id=") else { continue }
                let digits = line[range.upperBound...].prefix { $0.isNumber }
                if let number = Int(digits) { lines[number, default: []].append(String(line)) }
            }
            return lines
        }

        private static let certificates = """
            set -e
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj '/CN=An authority of a test'
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -out leaf.csr -subj /CN=origin.test
            echo 'subjectAltName=DNS:origin.test,IP:127.0.0.1' > extensions
            openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -extfile extensions -out leaf.pem
            cat leaf.pem leaf.key > pair.pem
            chmod -R a+rX .
            """
    }
#endif
