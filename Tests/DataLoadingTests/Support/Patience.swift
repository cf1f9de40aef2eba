// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many times as long as promised something may take: 1, or `PATIENCE` in the environment.
///
/// Under a sanitizer everything takes several times as long, and what is looked for is not time.
let patience =
    ProcessInfo.processInfo.environment["PATIENCE"].flatMap { Int($0) }.map { max(1, $0) } ?? 1
