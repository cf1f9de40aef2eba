// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingFleet
import Testing

@Suite struct RedisEndpointTests {
    @Test(arguments: [
        ("redis://localhost", "redis://localhost:6379"),
        ("redis://Redis.Internal:7000/", "redis://redis.internal:7000"),
        ("rediss://10.0.0.1:80", "rediss://10.0.0.1:80"),
        ("rediss://[::1]", "rediss://[::1]:6379"), ("redis://h:443", "redis://h:443"),
        ("unix:///run/redis/redis.sock", "unix:///run/redis/redis.sock"),
    ]) func `an address is read with its default port`(_ text: String, _ description: String) throws
    {
        #expect(try RedisEndpoint(text).description == description)
    }

    @Test(
        arguments: [
            ("", .scheme), ("localhost:6379", .scheme), ("http://h", .scheme),
            ("REDIS://h", .scheme),
            ("redis://", .host), ("redis://a b", .host), ("redis://:6379", .host),
            ("redis://h:0", .port), ("redis://h:65536", .port), ("redis://h:x", .port),
            ("redis://u:secret@h", .userInformation), ("redis://:secret@h", .userInformation),
            ("redis://h/1", .path), ("redis://h?db=1", .path), ("redis://h#1", .path),
            ("redis://h/ ", .path),
            ("unix://run/redis.sock", .socketPath), ("unix://", .socketPath),
            ("unix:///run/redis.sock?db=1", .socketPath), ("unix:///a b", .socketPath),
            ("unix:///" + String(repeating: "a", count: 107), .socketPath),
        ] as [(String, RedisEndpointError)])
    func `an address that is none is refused with its part`(
        _ text: String, _ error: RedisEndpointError
    ) {
        #expect(throws: error) { try RedisEndpoint(text) }
        #expect(!"\(error)".contains("secret"))
    }
}
