// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingSupport

/// The labels of the operations of a store.
struct StoreLabels: LabelSet {
    /// The store as OpenTelemetry names it.
    let system: String
    let kind: StoreOperations.Kind

    func labels(_ names: LabelNames) -> [Label] {
        let optional: [(String, String?)] = [
            ("db.stored_procedure.name", kind.script),
            ("server.address", kind.server?.address),
            ("server.port", kind.server?.port.map { "\($0)" }),
            ("error.type", kind.error),
        ]
        return [Label("db.system.name", system), Label("db.operation.name", kind.command)]
            + optional.compactMap { name, value in value.map { Label(name, $0.cutForLabel) } }
    }
}
