// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
import DataLoadingTesting
import Testing

@Suite struct ManyAuthorisersTests {
    private final class Numbered: Authoriser {
        let number: Int

        init(_ number: Int) {
            self.number = number
        }

        func authorise(_ request: DataLoaderRequest) -> Authorisation {
            guard number % 3 == 0 else { return .unchanged }
            var authorised = request
            authorised.headers.add("\(number)", for: "Number")
            return .use(authorised)
        }
    }

    /// Asks in its first epoch alone.
    private final class Owner: AsksAuthorisers {
        func isAuthorising(_ epoch: Int) -> Bool { epoch == 1 }
    }

    @Test(arguments: [0, 1, 4, 64, 65, 70, 200])
    func `a chain knows which of any number of authorisers took part`(count: Int) throws {
        var chain = try AuthoriserChain(.make(), (0..<count).map(Numbered.init))
        let answer = chain.ask(for: .asking(Owner(), epoch: 1))
        let expected = (0..<count).filter { $0 % 3 == 0 }
        #expect(chain.isOver)
        #expect(chain.hasParticipants == !expected.isEmpty)
        #expect(chain.participants.compactMap { ($0 as? Numbered)?.number } == expected)
        #expect(chain.request.headers.values(for: "Number") == expected.map { "\($0)" })
        if case .unchanged = answer { #expect(expected.isEmpty) }
    }

    @Test func `a chain whose load has left asks no further authoriser`() throws {
        var chain = try AuthoriserChain(.make(), (0..<4).map(Numbered.init))
        // The caller has looked before the first one.
        _ = chain.ask(for: .asking(Owner(), epoch: 0))
        #expect(!chain.isOver)
        #expect(chain.participants.count == 1)
    }
}
