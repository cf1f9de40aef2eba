// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import CCurl

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// An epoll instance that watches a loop's wake-up event.
///
/// It is made before the loop, so that no loop exists without one.
final class EventPoll: Sendable {
    let descriptor: Int32

    /// Makes an instance; nil when the process is out of descriptors or the system out of
    /// watches.
    init?(watching wakeEvent: EventDescriptor) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        var event = epoll_event(
            events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: .max))
        guard epoll_ctl(descriptor, EPOLL_CTL_ADD, wakeEvent.descriptor, &event) == 0 else {
            return nil
        }
    }

    deinit {
        if descriptor >= 0 { closeDescriptor(descriptor) }
    }
}
