// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The numbers of a load's metrics that observers of this package use.
///
/// Without texts and lists: to copy those of `LoadMetrics` costs as much as to count a load.
package struct LoadFigures: Sendable {
    package let load: Int64
    package let source: ResponseSource
    package let attempts: Int
    package let retries: Int
    package let redirects: Int
    package let admissionTime: Duration
    package let authorisationTime: Duration
    package let backOffTime: Duration
    package let totalTime: Duration
    package let reusedConnection: Bool
    package let isInternal: Bool

    @inline(__always) init(_ metrics: borrowing LoadMetrics) {
        load = metrics.load
        source = metrics.source
        attempts = metrics.attempts
        retries = metrics.retries
        redirects = metrics.redirects
        admissionTime = metrics.admissionTime
        authorisationTime = metrics.authorisationTime
        backOffTime = metrics.backOffTime
        totalTime = metrics.totalTime
        reusedConnection = metrics.reusedConnection
        isInternal = metrics.isInternal
    }
}
