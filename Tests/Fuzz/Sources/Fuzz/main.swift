// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// libFuzzer's driver; its own `main` is linked but never called, because SwiftPM starts here.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The number of the parser to fuzz alone, from `DATALOADING_FUZZ_PARSER`; nil for all of them.
let onlyParser = ProcessInfo.processInfo.environment["DATALOADING_FUZZ_PARSER"].flatMap {
    UInt8($0)
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: length)
    guard let parser = input.first else { return -1 }
    // -1 keeps the input out of the corpus.
    if let onlyParser, parser % 11 != onlyParser { return -1 }
    let rest = Array(input.dropFirst())
    switch parser % 11 {
    case 0: Parsers.dates(rest)
    case 1: Parsers.retryAfter(rest)
    case 2: Parsers.location(rest)
    case 3: Parsers.heads(rest)
    case 4: Parsers.bodies(rest)
    case 5: Parsers.contentRange(rest)
    case 6: Parsers.challenges(rest)
    case 7: Parsers.events(rest)
    case 8: Parsers.tokenAnswers(rest)
    case 9: Parsers.endpointHeads(rest)
    default: Parsers.traces(rest)
    }
    return 0
}

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(runDriver(&count, &arguments) { testOneInput($0, $1) })
