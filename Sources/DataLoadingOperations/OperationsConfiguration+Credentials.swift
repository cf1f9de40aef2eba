// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension OperationsConfiguration {
    /// The credentials that systemd has given the service by `LoadCredential=` or
    /// `SetCredential=`; nil without `CREDENTIALS_DIRECTORY`.
    ///
    /// systemd copies them when it starts the service. A secret that is to change while the daemon
    /// runs belongs in a directory of its own.
    public var credentials: ServiceCredentials? {
        guard let directory = variables["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
            return nil
        }
        return ServiceCredentials(directory: directory, checksMode: false)
    }
}
