// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes one line for each load that ended, as text or as JSON.
///
/// A line has the method, the URL without its query or its ``URLTemplate``, the status or the kind of
/// error, counts, bytes and times. It never has a query, a header value, a body or a token.
///
/// ```swift
/// let logger = ConsumptionLogger(format: .json)  // keep it: a service holds observers weakly
/// service.addConsumptionObserver(logger, on: DispatchQueue(label: "consumption"))
/// ```
public final class ConsumptionLogger: ConsumptionObserver {
    /// The format of a line.
    public enum Format: Hashable, Sendable {
        /// Words and figures, in a fixed order.
        case text
        /// One JSON object per line, with the keys of the log of `DataLoadingOperations` where both have
        /// a value.
        case json
    }

    private let format: Format
    private let write: @Sendable (String) -> Void

    /// Makes a logger.
    ///
    /// - Parameters:
    ///   - format: The format of a line; default text.
    ///   - write: Receives each line with its line feed, on the observer's queue; by default writes
    ///     to standard error.
    public init(format: Format = .text, write: (@Sendable (String) -> Void)? = nil) {
        self.format = format
        self.write = write ?? Self.writeToStandardError
    }

    /// Ignores errors, because they cannot be reported anywhere.
    private static let writeToStandardError: @Sendable (String) -> Void = { line in
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    /// Writes the line of a load.
    public func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        let line = ConsumptionLine(
            response, bytesDownloaded: bytesDownloaded, bytesUploaded: bytesUploaded)
        switch format {
        case .text: write(line.text + "\n")
        case .json: write(line.json + "\n")
        }
    }
}
