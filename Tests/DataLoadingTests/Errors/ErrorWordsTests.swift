// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingTransport
import DataLoadingSupport
@testable import DataLoading
@testable import DataLoadingTesting
import Foundation
import Testing

@Suite struct ErrorWordsTests {
    /// One error of every kind.
    static let kinds: [DataLoaderError.Kind] =
        [
            .chunksNotSupported, .overloaded, .rateLimited(wait: .seconds(9)),
            .cannotAuthenticate(reason: "token: no credentials"),
            .invalidConfiguration(reason: "a rate"), .notCached, .serviceInvalidated,
            .resetInProgress, .cancelled, .reset,
            .timedOut(after: .seconds(9), mayHaveBeenProcessed: true),
            .timedOut(after: .milliseconds(20), mayHaveBeenProcessed: false),
            .dns, .connectRefused, .connectTimeout, .tls, .certificate(reason: "expired"), .pin,
            .privateAddress, .proxy(.connectRefused), .proxy(.certificate(reason: "expired")),
            .proxy(.status(.badGateway)), .resources(reason: "memory"),
            .unsupported(reason: "a feature"),
            .noResponse, .connectionReset, .idleTimeout, .truncatedHead, .truncatedBody,
            .framing(reason: "two lengths"), .headTooLarge, .bodyTooLarge(limit: 9),
            .decode(reason: "gzip"), .http2(reason: "a frame"), .redirectLimit,
            .redirectRefused(reason: "to http"), .requestBody(reason: "a file"),
            .responseSink(reason: "no space"), .interceptor(reason: "Refusal"), .digestMismatch,
            .transport(reason: "libcurl result 99"),
            .status(.notFound), .undecodable(status: .ok, reason: "a name is missing"),
            .undecodable(status: nil, reason: "a name is missing"),
        ] + faults.map { .invalidRequest($0) }

    private static let faults: [RequestFault] = [
        .scheme, .host, .port, .target, .userInformation, .method, .headerName("A b"),
        .headerValue(name: "A"), .reservedHeader("Host"), .body,
        .setting(name: "idleTimeout"), .pathSegment(index: 1), .baseURL,
    ]

    private static let authorisationErrors: [AuthorisationError] = [
        .noCredentials, .refused(code: "invalid_grant"), .tooManyRefreshes, .timedOut, .noAnswer,
        .reset, .unknownMethod(AuthenticationMethod(rawValue: "own")), .load(.dns),
        .invalidAnswer(reason: "no token"), .invalidConfiguration(reason: "no delegate"),
        .store(reason: "no permission"),
    ]

    private static let phases: [DataLoaderError.Phase] = [
        .preparing, .authorising, .waitingForSlot, .backingOff, .resolving, .connecting, .securing,
        .sending, .waitingForHead, .readingBody, .deciding,
    ]

    private static let reasons: [DataLoaderError.StopReason] = [
        .retriesUsedUp, .budgetEmpty, .deadlineTooNear, .retryAfterTooLong, .notRepeatable, .policy,
        .alreadyDelivered, .permanent,
    ]

    /// The name of the case of a value, as Swift prints a value without a description.
    private func bareName(_ value: Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }

    private func expectWords(_ text: String, _ value: Any) {
        #expect(text.contains(" "), "\(text)")
        for part in ["Optional(", "DataLoading.", "rawValue", "nil"] {
            #expect(!text.contains(part), "\(text)")
        }
        let name = bareName(value)
        #expect(text == name || !text.contains("\(name)("), "\(text)")
    }

    @Test func `every kind of error is described in words of its own`() {
        for kind in Self.kinds {
            let error = DataLoaderError(kind)
            expectWords("\(error)", kind)
            #expect(error.localizedDescription == "\(error)")
            #expect(String(reflecting: error) == "\(error)")
            #expect(!kind.name.contains(" "))
        }
        #expect(Set(Self.kinds.map(\.description)).count == Self.kinds.count)
    }

    @Test func `every phase, reason and error of an authoriser is described in words`() {
        for phase in Self.phases where phase != .connecting {
            #expect("\(phase)".contains(" "), "\(phase)")
        }
        for reason in Self.reasons { expectWords("\(reason)", reason) }
        for error in Self.authorisationErrors {
            expectWords("\(error)", error)
            #expect(error.localizedDescription == "\(error)")
        }
        #expect(Set(Self.phases.map(\.description)).count == Self.phases.count)
        #expect(Set(Self.reasons.map(\.description)).count == Self.reasons.count)
    }

    @Test func `a failed bootstrap and a server that cannot start are described in words`() {
        expectWords("\(DataLoaderError.bootstrapAfterUse)", 0)
        expectWords("\(DataLoaderError.bootstrapTwice)", 0)
        expectWords("\(LoopbackServerError(operation: "bind", code: EADDRINUSE))", 0)
        expectWords("\(LibcurlError(code: 35, message: ""))", 0)
    }

    @Test func `the description of a TLS failure has the text of libcurl`() {
        let cause = LibcurlError(code: 35, message: "alert handshake failure")
        let error = DataLoaderError(.tls, underlyingError: cause)
        #expect("\(error)" == "the TLS handshake failed: alert handshake failure")
    }

    @Test func `no description shows an error from outside the library`() {
        struct Secret: Error, CustomStringConvertible { let description = "canary" }
        for kind in Self.kinds {
            let error = DataLoaderError(kind, underlyingError: Secret())
            var dumped = ""
            dump(error, to: &dumped)
            for text in ["\(error)", String(reflecting: error), error.localizedDescription, dumped]
            {
                #expect(!text.contains("canary"), "\(text)")
            }
        }
    }

    @Test func `errors are equal and caught by their kind`() throws {
        let cause = LibcurlError(code: 7, message: "refused")
        let error = DataLoaderError(.connectRefused, underlyingError: cause)
        #expect(error == .connectRefused)
        #expect(Set([error, .connectRefused, .dns]).count == 2)
        do {
            throw error
        } catch DataLoaderError.dns {
            Issue.record("another kind was caught")
        } catch DataLoaderError.connectRefused {
            #expect(error.underlyingError as? LibcurlError == cause)
        }
    }

    @Test(arguments: [
        (Duration.zero, "0 ms"), (.microseconds(1_250), "1.3 ms"), (.milliseconds(200), "200 ms"),
        (.seconds(1), "1 s"), (.milliseconds(3_140), "3.1 s"), (.seconds(3_600), "3600 s"),
    ])
    func `a duration is written in milliseconds or seconds`(duration: Duration, text: String) {
        #expect(duration.shortText == text)
    }
}
