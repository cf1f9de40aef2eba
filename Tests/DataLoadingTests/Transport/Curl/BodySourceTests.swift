// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingTransport
    @testable import DataLoading
    import DataLoadingTesting
    import Foundation
    import Testing

    // Bodies that are read while they are sent, completely or with an error.
    @Suite struct BodySourceTests {
        private let directory = TemporaryDirectory()

        private func source(_ file: URL, inForm: Bool) throws -> any BodySource {
            guard inForm else { return try BodyReader(file: file) }
            var form = MultipartForm()
            form.add("x", for: "first")
            form.add(file: file, for: "file")
            return try MultipartReader(form)
        }

        private func isBodyFailure(_ error: DataLoaderError?, _ part: String) -> Bool {
            guard case .requestBody(let reason) = error?.kind else { return false }
            return reason.contains(part)
        }

        private func failure(_ body: () throws -> Void) -> DataLoaderError? {
            do {
                try body()
                return nil
            } catch {
                return error as? DataLoaderError
            }
        }

        @Test func `a form with files is read completely, and its length is known before`() throws {
            var form = MultipartForm()
            form.add("x", for: "first")
            for (index, size) in [0, 1, 65_536, 300_000].enumerated() {
                let file = try directory.write(patternBytes(size), to: "f\(index)")
                form.add(file: file, for: "file\(index)", contentType: "text/plain")
            }
            var reader = try MultipartReader(form)
            #expect(reader.length == Int64(form.bytes.count))
            var body = Data()
            var largest = 0
            while let chunk = try reader.next() {
                #expect(!chunk.isEmpty)
                largest = max(largest, chunk.count)
                body += chunk
            }
            #expect(body == form.bytes)
            #expect(largest <= BodyReader.chunkSize)
            reader.close()
        }

        @Test(arguments: [false, true])
        func `a body that cannot be read is refused before a byte is sent`(
            inForm: Bool
        ) throws {
            let missing = directory.url("missing")
            #expect(
                isBodyFailure(
                    failure { _ = try source(missing, inForm: inForm) }, "No such file"))
            #expect(
                isBodyFailure(
                    failure { _ = try source(directory.url, inForm: inForm) }, "a directory"))
            let remote = try #require(URL(string: "http://origin.test/"))
            #expect(
                isBodyFailure(
                    failure { _ = try source(remote, inForm: inForm) }, "not the URL of a file"))
        }

        @Test(arguments: [false, true])
        func `an upload fails when its file changes while it is read`(
            inForm: Bool
        ) throws {
            enum Change: CaseIterable {
                case shrinks, grows, isRewritten
            }
            for size in [1, 10, 65_536, 200_000] {
                for change in Change.allCases {
                    let file = try directory.write(patternBytes(size), to: "changing")
                    try directory.age(file)
                    var reader = try source(file, inForm: inForm)
                    let declared = reader.length
                    var produced: Int64 = 0
                    if size == 200_000 { produced += Int64(try reader.next()?.count ?? 0) }
                    let handle = try FileHandle(forUpdating: file)
                    switch change {
                    case .shrinks: try handle.truncate(atOffset: UInt64(size - 1))
                    case .grows: try handle.truncate(atOffset: UInt64(size + 1))
                    case .isRewritten: try handle.write(contentsOf: Data([0]))
                    }
                    try handle.close()
                    let error = failure {
                        while let chunk = try reader.next() { produced += Int64(chunk.count) }
                    }
                    #expect(isBodyFailure(error, "changed"), "\(change) of \(size)")
                    // The server never gets as many bytes as were declared: no request is complete.
                    #expect(produced < declared ?? 0)
                    reader.close()
                }
            }
        }

        @Test func `a form's file that is replaced before it is read fails the upload`() throws {
            let file = try directory.write(Data("one".utf8), to: "swapped")
            try directory.age(file)
            var reader = try source(file, inForm: true)
            try directory.write(Data("two".utf8), to: "swapped")
            let error = failure { while try reader.next() != nil {} }
            #expect(isBodyFailure(error, "changed"))
        }

        @Test func `a pipe has no length and is read to its end`() throws {
            let pipe = directory.url("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            let writer = Thread {
                try? Data("through a pipe".utf8).write(to: pipe, options: [])
            }
            var form = MultipartForm()
            form.add(file: pipe, for: "pipe")
            var reader = try MultipartReader(form)
            #expect(reader.length == nil)
            writer.start()
            var body = Data()
            while let chunk = try reader.next() { body += chunk }
            #expect(body.range(of: Data("\r\n\r\nthrough a pipe\r\n--".utf8)) != nil)
        }
    }
#endif
