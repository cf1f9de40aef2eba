// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import Foundation

extension DataLoaderError {
    /// The error of the last system call for the file of a sink, without the path.
    static func ofFile(_ what: String) -> DataLoaderError {
        let code = errno
        let cause = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
        guard code != EMFILE, code != ENFILE else {
            return DataLoaderError(.resources(reason: "file descriptors"), underlyingError: cause)
        }
        let reason = "\(what): \(String(cString: strerror(code)))"
        return DataLoaderError(.responseSink(reason: reason), underlyingError: cause)
    }
}
