// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What signals do to the process, as far as watches have changed it.
///
/// There is one action for a signal in the whole process. Watches of the same signal therefore share
/// an entry, and the last one restores the action that the first one found.
///
/// On Linux, libdispatch receives a signal with a handler of its own. It installs it for the first
/// source of a signal only (`_dispatch_muxnote_create`, event_epoll.c). Once the action has been
/// restored, a later source would receive nothing, and so the handler is kept here.
enum SignalActions {
    private struct Entry {
        var watches = 1
        var original: sigaction
    }

    private struct State {
        var entries: [Int32: Entry] = [:]
        /// The action with which a source receives its signal.
        var receiving: sigaction?
    }

    private static let state = Locked(State())

    /// Begins a watch of a signal; false when no process can receive it.
    static func begin(_ number: Int32) -> Bool {
        state.withLock { state in
            guard number != SIGKILL, number != SIGSTOP else { return false }
            if state.entries[number] != nil {
                state.entries[number]?.watches += 1
                return true
            }
            guard let original = action(of: number) else { return false }
            state.entries[number] = Entry(original: original)
            #if canImport(Darwin)
                // A source does not change the action there, and the default one ends the process.
                signal(number, SIG_IGN)
                state.receiving = action(of: number)
            #endif
            return true
        }
    }

    /// Makes sure that the signal reaches its source, which is registered.
    static func receive(_ number: Int32) {
        state.withLock { state in
            guard let entry = state.entries[number] else { return }
            if state.receiving == nil, let now = action(of: number), now.isFunction,
                now.handler != entry.original.handler
            {
                state.receiving = now
            }
            if var receiving = state.receiving { sigaction(number, &receiving, nil) }
        }
    }

    /// Gives signals that are watched their default action.
    static func restoreDefault(_ numbers: Set<Int32>) {
        state.withLock { state in
            for number in numbers where state.entries[number] != nil { signal(number, SIG_DFL) }
        }
    }

    /// Ends a watch of a signal.
    static func end(_ number: Int32) {
        state.withLock { state in
            guard var entry = state.entries[number] else { return }
            entry.watches -= 1
            state.entries[number] = entry.watches > 0 ? entry : nil
            if entry.watches == 0 { sigaction(number, &entry.original, nil) }
        }
    }

    private static func action(of number: Int32) -> sigaction? {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0 ? action : nil
    }
}

extension sigaction {
    /// The address of the handler: 0 for the default action, 1 when the signal is ignored.
    ///
    /// It is the first field everywhere, and has another name in each C library.
    fileprivate var handler: UInt {
        withUnsafeBytes(of: self) { $0.loadUnaligned(as: UInt.self) }
    }

    fileprivate var isFunction: Bool { handler > 1 }
}
