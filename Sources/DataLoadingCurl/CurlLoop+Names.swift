// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport

extension CurlLoop {
    /// Starts a look-up, whose answer comes through the mailbox.
    func lookUp(_ name: String) {
        resolver.resolve(name) { [mailbox] in mailbox.post(.resolved(name, $0)) }
    }

    /// Stores an answer and runs or ends the attempts that wait for it.
    func resolved(_ name: String, _ answer: NameAnswer) {
        let (tasks, result) = names.resolved(name, answer, now: now)
        for task in tasks {
            guard let transfer = running[ObjectIdentifier(task)] else { continue }
            switch result {
            case .success(let addresses): run(transfer, addresses: addresses)
            case .failure(let error): finish(transfer, error)
            }
        }
    }

    /// Runs the attempt with the stale addresses of its name, or ends it when there are none.
    ///
    /// With these addresses libcurl finds an open connection, which needs no look-up.
    func resolveWithoutAnswer(_ transfer: CurlTransfer, _ name: String) {
        guard let task = transfer.task,
            let addresses = names.stopWaitingWithStaleAddresses(task, for: name, now: now)
        else { return finish(transfer, .dns) }
        run(transfer, addresses: addresses)
    }
}
