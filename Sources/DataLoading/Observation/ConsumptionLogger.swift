// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes one line for each load that ended: for people, or as JSON for machines.
///
/// A line holds the method, the URL without its query, the status or the kind of error, counts, bytes
/// and times. It never holds a query, a header value, a body or a token.
///
/// ```swift
/// let logger = ConsumptionLogger(format: .json)  // keep it: a service holds observers weakly
/// service.addConsumptionObserver(logger, on: DispatchQueue(label: "consumption"))
/// ```
public final class ConsumptionLogger: ConsumptionObserver {
    /// How a line looks.
    public enum Format: Hashable, Sendable {
        /// Words and figures, in a fixed order.
        case text
        /// A JSON object a line, with the names of OpenTelemetry's HTTP conventions where it has some.
        case json
    }

    private let format: Format
    private let write: @Sendable (String) -> Void

    /// Makes a logger.
    ///
    /// - Parameters:
    ///   - format: How a line looks; default text.
    ///   - write: Takes a line with its line feed, on the observer's queue; default: to standard error.
    public init(
        format: Format = .text, write: @escaping @Sendable (String) -> Void = standardError
    ) {
        self.format = format
        self.write = write
    }

    /// Writes to standard error; an error there is ignored, as there is nowhere to tell of it.
    public static let standardError: @Sendable (String) -> Void = { line in
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    /// Writes the load's line.
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
