// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTesting
import Foundation
import Testing

/// Makes inputs that a parser almost expects: changed, cut, spliced and doubled, with keywords
/// inserted.
struct Mutator {
    /// Inputs to start from; an input that the parser accepted is better than random bytes.
    private(set) var corpus: [[UInt8]]
    private let words: [[UInt8]]
    private var generator: SeededGenerator
    private static let corpusLimit = 500

    init(_ seeds: [String], words: [String], seed: UInt64) {
        corpus = seeds.map { Array($0.utf8) }
        self.words = words.map { Array($0.utf8) }
        generator = SeededGenerator(seed: seed)
    }

    /// Adds an input to start from.
    mutating func keep(_ input: [UInt8]) {
        guard input.count < 4_096 else { return }
        if corpus.count < Self.corpusLimit {
            corpus.append(input)
        } else {
            corpus[Int.random(in: 0..<corpus.count, using: &generator)] = input
        }
    }

    /// The next input.
    mutating func next() -> [UInt8] {
        var input = pick(corpus)
        for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&input) }
        return input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let place = Int.random(in: 0...input.count, using: &generator)
        let end = Int.random(in: place...input.count, using: &generator)
        switch Int.random(in: 0..<9, using: &generator) {
        case 0 where place < input.count:
            input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1 where place < input.count:
            input[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: input.removeSubrange(place..<end)
        case 3: input.insert(contentsOf: input[place..<end], at: place)
        case 4: input.insert(contentsOf: pick(words), at: place)
        case 5: input.replaceSubrange(place..<end, with: pick(words))
        case 6:
            let other = pick(corpus)
            input.replaceSubrange(place..., with: other.suffix(other.count / 2))
        case 7:
            let digits = "\(UInt64.random(in: 0...UInt64.max, using: &generator))"
            input.insert(contentsOf: digits.utf8.prefix(1 + place % 20), at: place)
        default: input.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        }
        if input.count > 8_192 { input.removeSubrange(8_192...) }
    }

    private mutating func pick(_ inputs: [[UInt8]]) -> [UInt8] {
        inputs.randomElement(using: &generator) ?? []
    }
}

/// Feeds a parser for as many seconds as `DATALOADING_FUZZ_SECONDS` says, 0.2 by default, with the
/// seed `DATALOADING_FUZZ_SEED`.
///
/// `check` says whether the parser accepted or refused the input, or what is wrong with its
/// result. A trap ends the process; the seed reproduces the input.
func fuzz(
    _ seeds: [String], words: [String], sourceLocation: SourceLocation = #_sourceLocation,
    _ check: ([UInt8]) -> FuzzVerdict
) {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["DATALOADING_FUZZ_SECONDS"].flatMap { Double($0) } ?? 0.2
    let seed = environment["DATALOADING_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_260_101
    var mutator = Mutator(seeds, words: words, seed: seed)
    let end = ContinuousClock.now + .milliseconds(Int64(seconds * 1_000))
    var count = 0
    var taken = 0
    func run(_ input: [UInt8]) -> Bool {
        count += 1
        switch check(input) {
        case .taken:
            taken += 1
            mutator.keep(input)
        case .refused: break
        case .wrong(let complaint):
            Issue.record(
                "seed \(seed), \(input): \(complaint)", sourceLocation: sourceLocation)
            return false
        }
        return true
    }
    for input in mutator.corpus {
        guard run(input) else { return }
    }
    // If no seed is accepted, the test checks nothing.
    #expect(taken > 0, sourceLocation: sourceLocation)
    while ContinuousClock.now < end {
        for _ in 0..<50 {
            guard run(mutator.next()) else { return }
        }
    }
    if seconds >= 1 { print("fuzzed \(count) inputs, \(taken) taken, \(sourceLocation)") }
}

enum FuzzVerdict {
    case taken
    case refused
    case wrong(String)
}
