// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)

    extension CurlLoop {
        /// Starts a look-up, whose answer comes through the mailbox.
        func lookUp(_ name: String) {
            resolver.resolve(name) { [mailbox] in mailbox.post(.resolved(name, $0)) }
        }

        /// Takes an answer, for all who wait for it.
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

        /// Goes on with the addresses that a name had, or ends the attempt.
        ///
        /// With them libcurl finds a connection that is open, for which nothing has to be looked up.
        func resolveWithoutAnswer(_ transfer: CurlTransfer, _ name: String) {
            guard let task = transfer.task,
                let addresses = names.giveUpWaiting(task, for: name, now: now)
            else { return finish(transfer, .dns) }
            run(transfer, addresses: addresses)
        }
    }
#endif
