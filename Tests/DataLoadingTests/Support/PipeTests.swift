// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoadingSockets
import Foundation
import Testing

extension SocketTests {
    /// The pipes that wake threads.
    @Suite struct PipeTests {
        @Test func `child programs do not inherit a pipe, whichever call makes it`() throws {
            let new = try PlatformSocket.makePipe()
            var old: [Int32] = [-1, -1]
            try SystemCall.check("pipe", PlatformSocket.pipeThenHide(&old))
            for end in [new.read, new.write] + old {
                #expect(fcntl(end, F_GETFD) & FD_CLOEXEC != 0)
                SystemCall.release(end)
            }
        }
    }
}
