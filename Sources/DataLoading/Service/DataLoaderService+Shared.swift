// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport
import DataLoadingTransport

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
    /// - Throws: `.invalidConfiguration` when it was called before or `shared` is in use, and the
    ///   errors of `Configuration.validate()`. After an error nothing has changed.
    public static func bootstrap(_ configuration: Configuration) throws {
        try configuration.validate()
        try singleton.withLock { singleton in
            guard case .unused = singleton else { throw DataLoaderError.bootstrapAfterUse }
            let isFirst = isBootstrapped.withLock { isBootstrapped in
                defer { isBootstrapped = true }
                return !isBootstrapped
            }
            guard isFirst else { throw DataLoaderError.bootstrapTwice }
            singleton = .unused(configuration)
        }
    }
}

extension DataLoaderError {
    static let bootstrapTwice = invalidConfiguration(
        reason: "DataLoaderService.bootstrap was called before")
    static let bootstrapAfterUse = invalidConfiguration(
        reason: "DataLoaderService.shared was used before bootstrap")
}
