// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The answer of a name look-up.
enum NameAnswer: Sendable, Equatable {
    /// Numeric addresses in the system's order, IPv6 ones in brackets.
    case addresses([String])
    /// The name has no address: a name server said so.
    case unknown
    /// No name server answered, or none could; the next look-up may find the name.
    case unavailable
    /// The process is out of a resource.
    case outOfResources(String)

    /// EAI_NODATA, which the C library's headers declare for GNU programs.
    private static let noData: Int32 = -5

    /// Maps a failure of `getaddrinfo`, and the `errno` that it left.
    init(failure: Int32, errno code: Int32) {
        switch failure {
        case EAI_NONAME, Self.noData: self = .unknown
        case EAI_MEMORY: self = .outOfResources("memory")
        case EAI_SYSTEM where code == EMFILE || code == ENFILE || code == ENOMEM:
            self = .outOfResources(String(cString: strerror(code)))
        // EAI_AGAIN means silence or SERVFAIL, EAI_FAIL means REFUSED.
        default: self = .unavailable
        }
    }
}

extension NameResolver {
    /// Looks a name up with the system's resolver.
    static func systemLookup(_ name: String) -> NameAnswer {
        // Each look-up has a socket until it is answered. Without one, the C library says that there is no
        // name or no answer.
        guard DescriptorReserve.hasRoom else { return .outOfResources("file descriptors") }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(name, nil, &hints, &list)
        guard failure == 0 else { return NameAnswer(failure: failure, errno: errno) }
        defer { if let list { freeaddrinfo(list) } }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            if let text = numericText(entry), !addresses.contains(text) {
                addresses.append(text)
            }
            next = entry.ai_next
        }
        return addresses.isEmpty ? .unknown : .addresses(addresses)
    }

    private static func numericText(_ entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let failure = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0,
            NI_NUMERICHOST)
        guard failure == 0 else { return nil }
        let end = buffer.firstIndex(of: 0) ?? buffer.endIndex
        let text = String(decoding: buffer[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
        // CURLOPT_RESOLVE accepts no scope.
        guard !text.contains("%") else { return nil }
        return entry.ai_family == AF_INET6 ? "[\(text)]" : text
    }
}
