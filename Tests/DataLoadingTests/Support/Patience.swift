// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A factor for all time limits: 1, or `PATIENCE` in the environment.
///
/// Under a sanitizer everything takes several times as long, and time is not what it checks.
let patience =
    ProcessInfo.processInfo.environment["PATIENCE"].flatMap { Int($0) }.map { max(1, $0) } ?? 1
