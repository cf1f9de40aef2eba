// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What an authoriser of the library has to say of itself, with which a load ends as it is.
///
/// A type of its own: a fetch may end with the same error, of a load that it has made.
struct OwnFault: Error {
    let error: DataLoaderError

    init(_ error: DataLoaderError) {
        self.error = error
    }
}
