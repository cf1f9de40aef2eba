// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The labels of the attempts that run.
struct ActiveLabels: LabelSet {
    let host: HostLabel
    let method: MethodLabel

    func labels(_ names: LabelNames) -> [Label] {
        [method.label] + names.hosts.labels(host)
    }
}

/// The labels of an attempt that ended.
struct AttemptLabels: LabelSet {
    let host: HostLabel
    let method: MethodLabel
    let status: StatusLabel?
    let error: ErrorLabel?
    let version: VersionLabel?

    // The error and the version hardly tell sets apart that these do not.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(method)
        hasher.combine(status?.code ?? 0)
    }

    func labels(_ names: LabelNames) -> [Label] {
        [method.label] + names.hosts.labels(host)
            + [status?.label, error?.label, version?.label].compactMap(\.self)
    }
}
