// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import Foundation

/// A message of a service to its manager, as `sd_notify(3)` defines them.
enum ServiceMessage: Hashable, Sendable {
    /// The service has started, or has ended a reload.
    case ready
    /// A sentence about what the service does, for `systemctl status`.
    case status(String)
    /// The service reads its configuration again, since a time of the monotonic clock.
    case reloading(microseconds: Int64)
    /// The service is ending.
    case stopping
    /// Starting, reloading or ending takes so much longer.
    case extendTimeout(Duration)
    /// The service works.
    case watchdog

    /// Whether the process would be ended or left waiting without it; the others come again, or may
    /// be missed.
    var mustArrive: Bool {
        switch self {
        case .ready, .reloading, .stopping, .extendTimeout: true
        case .status, .watchdog: false
        }
    }

    /// The text of the datagram.
    var text: String {
        switch self {
        case .ready: "READY=1"
        // systemd ignores datagrams of more than 4,096 bytes.
        case .status(let text): "STATUS=\(Self.oneLine(text).shown(maxBytes: 2_048))"
        // Without the time, systemd 253 and later wait for another message, and fail the reload.
        case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
        case .stopping: "STOPPING=1"
        case .extendTimeout(let duration):
            "EXTEND_TIMEOUT_USEC=\(max(0, duration.wholeNanoseconds) / 1_000)"
        case .watchdog: "WATCHDOG=1"
        }
    }

    /// The current time of the clock that systemd compares with; `Instant` counts sleep too.
    static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// A text without characters that could begin another assignment.
    private static func oneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
