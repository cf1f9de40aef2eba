// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingCurl
    @testable import DataLoadingTransport
    import DataLoading
    @testable import DataLoadingTesting
    import Foundation
    import Testing

    /// Bodies with several codings, whose stages make much of little, and nothing comes out.
    @Suite struct EmptyMembersTests {
        /// 64 MiB of gzip members without content, 20 bytes each, encoded three times more.
        fileprivate static let bomb =
            Data(
                base64Encoded: """
                    H4sIAAAAAAACA5Pv5mAAASbmt3c2ZgUnShx/ePmKomzOpV3fQpytrnM1tSh0iF06eza0a3JJtqKTbFSIhyNn
                    4XuFvY1dW8XYCzWSljks92Bb7iAb1KLkofrjpGX5x5Of+c6z/nku//7q9KMquw89WVH9uGhTiM80rqVHP60+
                    /l5Ol4+P79Jv/n13Xl31KzdnQAEOIjaSpdrCkTI3OH9npn5+vvz+/flMKCoaOmbk81n/XH4g78X202aMKHIK
                    Vl5fv061YZNp23qszxfV5I6+sKjoE8kHPhdExG7jRJW7WHhn3uyzyQe6DWbc3Iwut/HWjHmnog68/Xgt8uMR
                    NVRJl+O3s14HiTHf+/l7589H7RhW5q9/L7pJ4kNURcT+36fR9B459jZwu9HEow1zN8wPM8tF9aVDzhnz9rlr
                    WH12Lbyvd5sFNQReaFy9Hv5JokDimpQ1RghEZeYq9jOeP5xYehPDsYXVeWb9jPqHEtLOY8hlJVdpZTNuPx6d
                    flR4NqqkgOz71fH5aYYPNtu7y0edXz/nXd6XLGQFB/4fu3j8SdX6/2kyh57YX+T6y85Sw8QAACtWNpxbAgAA
                    """.filter { !$0.isWhitespace }) ?? Data()
        fileprivate static let codings = "gzip, gzip, gzip, gzip"

        @Test func `members that are empty are given up after a mebibyte`() throws {
            let made = try ContentDecoder.make(contentEncoding: Self.codings)
            let decoder = try #require(made)
            #expect(Self.bomb.count < 512)
            Self.bomb.withUnsafeBytes { decoder.append($0) }
            let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
            defer { scratch.deallocate() }
            let error = #expect(throws: DataLoaderError.self) { try decoder.decode(into: scratch) }
            #expect(error?.isDecode == true)
            #expect((64...72).contains(decoder.pieces))
        }

        @Test func `a few empty members between others are decoded`() throws {
            let empty = EmptyMembersTests.bytes(.gzip([]))
            let inner = Array(repeating: empty, count: 2_000).flatMap(\.self)
            let body = EmptyMembersTests.bytes(.gzip(inner + EmptyMembersTests.bytes(.gzip([7]))))
            let made = try ContentDecoder.make(contentEncoding: "gzip, gzip")
            let decoder = try #require(made)
            body.withUnsafeBytes { decoder.append($0) }
            var output = [UInt8](repeating: 0, count: 8)
            let step = try output.withUnsafeMutableBytes { try decoder.decode(into: $0) }
            #expect(step == .output(1))
            #expect(output[0] == 7)
            try decoder.finish()
        }

        private static func bytes(_ payload: LoopbackPayload) -> [UInt8] {
            var bytes: [UInt8] = []
            payload.forEachSlice { bytes += $0 }
            return bytes
        }
    }

    extension SocketTests {
        @Suite struct BombedLoopTests {
            @Test func `loads of other servers go on while such a body arrives`() async throws {
                let bad = try LoopbackServer { _ in
                    .ok(
                        .data(EmptyMembersTests.bomb),
                        headers: ["Content-Encoding": EmptyMembersTests.codings])
                }
                let good = try LoopbackServer { _ in .ok("fine") }
                let service = DataLoaderService()
                let loader = service.makeFactory().makeDataLoader()
                await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let isBad = number % 4 == 0
                            let url = isBad ? bad.url() : good.url()
                            do {
                                let request = DataLoaderRequest(url: url)
                                return try await loader.response(for: request).body
                                    == Data("fine".utf8) && !isBad
                            } catch {
                                return isBad && (error as? DataLoaderError)?.isDecode == true
                            }
                        }
                    }
                    for await isRight in group { #expect(isRight) }
                }
                await service.shutDown(gracePeriod: .zero)
            }
        }
    }
#endif
