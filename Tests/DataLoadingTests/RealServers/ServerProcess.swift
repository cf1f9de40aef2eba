// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import Foundation

    /// A server in the foreground in a process group of its own, whose output goes to a file.
    ///
    /// When the test's process exits, a watcher in the group kills the group.
    final class ServerProcess: Sendable {
        /// The number of the process and of its group.
        let identifier: pid_t
        private let log: URL

        struct NotStarted: Error {
            let code: Int32
        }

        init(_ command: [String], in directory: URL, log: String) throws {
            self.log = directory.appendingPathComponent(log)
            let owner = "\(ProcessInfo.processInfo.processIdentifier)"
            identifier = try Self.spawn(
                ["/bin/bash", "-c", Self.wrapper, "bash", directory.path, log, owner] + command,
                home: directory.path)
        }

        /// Changes to the directory, closes the test's descriptors, which would keep sockets open,
        /// and starts a watcher that kills the group when the test's process exits.
        private static let wrapper = """
            cd "$1"; log=$2; owner=$3; shift 3
            for open in /proc/$$/fd/*; do
                number=${open##*/}
                if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
            done
            exec </dev/null >>"$log" 2>&1
            ( ( while kill -0 "$owner"; do sleep 1; done; kill -KILL -- -$$ ) & )
            exec "$@"
            """

        /// Signals the first process or the whole group.
        func signal(_ number: Int32, toAll: Bool = false) {
            Glibc.kill(toAll ? -identifier : identifier, number)
        }

        /// Kills one child process, which the server replaces or which ends it.
        func killWorker() {
            let tasks = "/proc/\(identifier)/task/\(identifier)/children"
            let children = (try? String(contentsOfFile: tasks, encoding: .utf8)) ?? ""
            guard let child = children.split(separator: " ").last.flatMap({ pid_t($0) }) else {
                return kill()
            }
            Glibc.kill(child, SIGKILL)
        }

        /// Kills all processes and returns when the first has exited.
        func kill() {
            signal(SIGKILL, toAll: true)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }

        /// Whether the first process has exited; reaps it.
        var isGone: Bool {
            var status: Int32 = 0
            return waitpid(identifier, &status, WNOHANG) != 0
        }

        /// Returns when it listens on the ports; kills it and throws the end of its log when it exits
        /// before, or does not listen for a minute.
        func waitUntilListening(on ports: [UInt16]) throws {
            let end = ContinuousClock.now + .seconds(60)
            for port in ports {
                while !RealServer.listens(port) {
                    if isGone || ContinuousClock.now > end {
                        kill()
                        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                        throw RealServer.Failure(
                            reason: "it does not listen on \(port): \(text.suffix(1_000))")
                    }
                    usleep(2_000)
                }
            }
        }

        private static func spawn(_ command: [String], home: String) throws -> pid_t {
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var signals = sigset_t()
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
            sigemptyset(&signals)
            posix_spawnattr_setsigmask(&attributes, &signals)
            // 0x80: POSIX_SPAWN_SETSID
            posix_spawnattr_setflags(
                &attributes, Int16(0x80 | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
            var arguments = command.map { strdup($0) } + [nil]
            defer { for argument in arguments { free(argument) } }
            let variables = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(home)"]
            var environment = variables.map { strdup($0) } + [nil]
            defer { for variable in environment { free(variable) } }
            var identifier: pid_t = 0
            let code = posix_spawn(
                &identifier, command[0], nil, &attributes, &arguments, &environment)
            guard code == 0 else { throw NotStarted(code: code) }
            return identifier
        }
    }
#endif
