// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import DataLoadingTesting
import Foundation
import Testing

// The sample of a serializer for a binary format: fields of numbers, as Protocol Buffers write
// them.

struct VarintFields: ResponseSerializer {
    enum Malformed: Error { case truncated, tooLarge, wireType }

    func serialize(_ response: DataLoaderResponse) throws -> [UInt64: UInt64] {
        try response.validateStatusCode()
        var fields: [UInt64: UInt64] = [:]
        var bytes = response.body ?? Data()
        while !bytes.isEmpty {
            let key = try Self.number(&bytes)
            guard key & 7 == 0 else { throw Malformed.wireType }
            fields[key >> 3] = try Self.number(&bytes)
        }
        return fields
    }

    /// Takes a number from its groups of seven bits, the lowest first.
    private static func number(_ bytes: inout Data) throws -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { throw Malformed.truncated }
            let group = UInt64(byte & 0x7F)
            // The tenth group has place for one bit.
            guard (group << shift) >> shift == group else { throw Malformed.tooLarge }
            number |= group << shift
            if byte < 0x80 { return number }
        }
        throw Malformed.tooLarge
    }
}

extension Request where Value == [UInt64: UInt64] {
    static var counters: Self {
        Request(Endpoint("counters")) { try VarintFields().serialize($0) }
    }
}

@Suite struct VarintSamples {
    private static let largest: [UInt8] = Array(repeating: 0xFF, count: 9) + [0x01]

    private func bed(_ bytes: [UInt8], status: Int = 200) -> TestBed {
        TestBed(otherwise: .respond(status: status, body: Data(bytes)))
    }

    @Test(
        arguments: [
            ([], [:]), ([0x08, 0x96, 0x01], [1: 150]), ([0x08, 0x01, 0x10, 0x00], [1: 1, 2: 0]),
            ([0x08] + largest, [1: UInt64.max]), ([0x08, 0x01, 0x08, 0x02], [1: 2]),
        ] as [([UInt8], [UInt64: UInt64])])
    func `the sample of a serializer reads fields of numbers`(
        bytes: [UInt8], fields: [UInt64: UInt64]
    ) async throws {
        let bed = bed(bytes)
        let url = testURL("http://origin.test/counters")
        let loader = bed.loader
        let counters = try await loader.request(url).serialized(by: VarintFields())
        #expect(counters == fields)
        let connection = Connection(baseURL: testURL("http://origin.test"), loader: loader)
        #expect(try await connection.send(.counters) == fields)
    }

    @Test(
        arguments: [
            ([0x08], .truncated), ([0x08, 0x80], .truncated), ([0x80], .truncated),
            ([0x0A, 0x01], .wireType),
            ([0x08] + Array(repeating: 0xFF, count: 9) + [0x02], .tooLarge),
            ([0x08] + Array(repeating: 0x80, count: 11), .tooLarge),
        ] as [([UInt8], VarintFields.Malformed)])
    func `the sample of a serializer throws for bytes that are no fields`(
        bytes: [UInt8], fault: VarintFields.Malformed
    ) async {
        let connection = Connection(
            baseURL: testURL("http://origin.test"), loader: bed(bytes).loader)
        await #expect(throws: fault) { try await connection.send(.counters) }
    }

    @Test func `the sample of a serializer throws for an error page`() async {
        let connection = Connection(
            baseURL: testURL("http://origin.test"), loader: bed([0x08, 0x01], status: 502).loader)
        await #expect(throws: DataLoaderError.status(.badGateway)) {
            try await connection.send(.counters)
        }
    }
}
