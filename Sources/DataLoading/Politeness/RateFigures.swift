// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a limiter knows of its rates at one instant, for metrics.
package struct RateFigures: Sendable {
    /// The rates that were set, and the hosts without one that have lately used the default rate, or
    /// that a `Retry-After` has closed.
    package let states: [RuleState]
    /// The default rate, in requests per second; nil without a limit.
    package let defaultRequestsPerSecond: Double?
    /// How many requests all rates have admitted, those of hosts included that were forgotten.
    package let admitted: Int64
    /// How often a `Retry-After` has closed any host or part of one.
    package let gateClosings: Int64
}
