// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DataLoaderService {
    private enum Singleton: Sendable {
        case unused(Configuration)
        case made(DataLoaderService)
    }

    private static let singleton = Locked(Singleton.unused(Configuration()))
    private static let isBootstrapped = Locked(false)

    /// The process's service, made on first use.
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

    /// Says what `shared` is made with; to be called once, before anything uses it.
    ///
    /// - Throws: `BootstrapError` when it was called before or `shared` is in use, and what
    ///   `Configuration.validate()` throws; nothing changes.
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

    /// Why `bootstrap` changed nothing.
    public enum BootstrapError: Error, Hashable, Sendable {
        /// `bootstrap` was called before.
        case calledTwice
        /// `shared` was used before.
        case sharedServiceIsInUse
    }
}
