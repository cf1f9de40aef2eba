// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension Operations {
    /// Opens the log's file again, after a rotation has renamed it.
    ///
    /// Lines before and after are whole, and none is lost. If it cannot be opened, the log continues
    /// with the file that it has.
    public func reopenLog() { logger?.reopen() }

    /// Changes which loads and attempts have a line in the log, from the next one on.
    ///
    /// The values mean what they mean in ``AccessLog``. It has no effect without a log, and before
    /// `start(for:)`. Any thread may call.
    public func replaceLogSampling(
        keepsOneIn: Int, keepsSlowerThan: Duration = .seconds(1)
    ) {
        logger?.replaceSampling(
            LogSampling(keepsOneIn: keepsOneIn, keepsSlowerThan: keepsSlowerThan))
    }

    /// Tells an operator of an error: a line in the log, and the status that systemd shows.
    func tell(_ error: String) {
        logger?.tell(error)
        showStatus(error)
    }
}
