// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

extension DataLoaderService {
    private enum Singleton: Sendable {
        case unused(Configuration)
        case made(DataLoaderService)
    }

    private static let singleton = Locked(Singleton.unused(Configuration()))
    private static let isBootstrapped = Locked(false)

    /// The shared service of the process, made on first use.
    public static var shared: DataLoaderService {
        singleton.withLock { singleton in
            switch singleton {
            case .made(let service):
                return service
            case .unused(let configuration):
                let service = DataLoaderService(configuration: configuration)
                singleton = .made(service)
                return service
            }
        }
    }

    /// Sets the configuration of `shared`; call it once, before anything uses `shared`.
    ///
    /// - Throws: `BootstrapError` when it was called before or `shared` is in use, and the errors
    ///   of `Configuration.validate()`. After an error nothing has changed.
    public static func bootstrap(_ configuration: Configuration) throws {
        try configuration.validate()
        try singleton.withLock { singleton in
            guard case .unused = singleton else { throw BootstrapError.sharedServiceIsInUse }
            let isFirst = isBootstrapped.withLock { isBootstrapped in
                defer { isBootstrapped = true }
                return !isBootstrapped
            }
            guard isFirst else { throw BootstrapError.calledTwice }
            singleton = .unused(configuration)
        }
    }

    /// The reason why `bootstrap` failed.
    public enum BootstrapError: Error, Hashable, Sendable {
        /// `bootstrap` was called before.
        case calledTwice
        /// `shared` is already in use.
        case sharedServiceIsInUse
    }
}
