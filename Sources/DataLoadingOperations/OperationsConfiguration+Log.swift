// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension OperationsConfiguration {
    /// Opens the log; nil without one.
    func makeLogger(_ tracer: Tracer) throws(OperationsError) -> AccessLogger? {
        guard let log else { return nil }
        do throws(LogFileError) {
            return try AccessLogger(log, tracer: tracer)
        } catch {
            throw .log(path: error.path, reason: error.reason)
        }
    }

    /// What adds attempts to the log; nil for a log without them.
    func makeAttemptLog() -> AttemptLog? { log?.includesAttempts == true ? AttemptLog() : nil }
}
