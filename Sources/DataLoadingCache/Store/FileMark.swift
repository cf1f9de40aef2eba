// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Which file a response in memory was read from or written to, by which a look tells whether the
/// file is still there.
///
/// Files are only ever replaced, never changed. The node of a file that was replaced may be used
/// again for a file of the same length, but not with the same time of writing: the clock of a file
/// system moves every few milliseconds.
struct FileMark: Hashable, Sendable {
    let name: EntryName
    let node: UInt64
    let length: Int64
    let seconds: Int64
    let nanoseconds: Int64
}
