// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// A transport with a thread of its own that also runs tasks.
package protocol ExecutingTransport: Transport {
    /// Runs the jobs of tasks between the transport's events.
    ///
    /// After `shutDown` it runs them elsewhere: a task must end.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    var taskExecutor: any TaskExecutor { get }
}
