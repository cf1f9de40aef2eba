// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension DataLoaderService.BootstrapError: CustomStringConvertible, LocalizedError {
    /// The reason, and what to do about it.
    public var description: String {
        switch self {
        case .calledTwice: "bootstrap was called before; call it once"
        case .sharedServiceIsInUse:
            "the shared service is in use already; call bootstrap before anything uses it"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
