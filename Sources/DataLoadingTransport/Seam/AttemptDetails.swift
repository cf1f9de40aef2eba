// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What a request tells of the load that makes it, read only by who asks.
///
/// A reference, so that a request that is handed on is no larger for what few transports read.
package protocol AttemptDetails: AnyObject, Sendable {
    var context: AttemptContext { get }
    var options: RequestOptions { get }
}

/// Details that a program or a wrapping transport has set.
final class OwnDetails: AttemptDetails {
    let context: AttemptContext
    let options: RequestOptions

    init(_ context: AttemptContext, _ options: RequestOptions) {
        self.context = context
        self.options = options
    }
}
