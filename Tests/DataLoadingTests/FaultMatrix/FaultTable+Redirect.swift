// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc) || canImport(Musl)
    @testable import DataLoadingAuth
    import DataLoading
    import DataLoadingTesting
    import Foundation

    extension FaultTable {
        /// Rows 27 to 29: redirects that lead nowhere or to unusual places.
        static let redirectFaults: [Fault] = endlessRedirects + oddRedirects + keptBodies

        // A POST that became a GET was not sent to the new target.
        private static let endlessRedirects: [Fault] = [
            Fault(number: 27, title: "a redirect to itself") { _ in
                .serving { redirect(to: $0.target) }
            } expectation: { cell in
                visiting(cell.isPost ? 2 : 1, in: cell)
            },
            Fault(number: 27, title: "a cycle of two") { _ in
                .serving { request in
                    redirect(
                        to: (request.path == "/fault" ? "/other?" : "/fault?") + FaultSecret.query)
                }
            } expectation: { cell in
                visiting(cell.isPost ? 3 : 2, in: cell)
            },
            Fault(number: 27, title: "eleven hops") { _ in
                .serving { request in
                    let hop = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
                    return hop == 11 ? .ok("end") : redirect(to: "/\(hop + 1)")
                }
            } expectation: {
                visiting(11, in: $0)
            },
            Fault(number: 27, title: "… and ten, which are allowed") { _ in
                .serving("end") { request in
                    let hop = request.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
                    return hop == 10 ? .ok("end") : redirect(to: "/\(hop + 1)")
                }
            } expectation: {
                FaultExpectation("success", in: $0).attempting(11).requesting(11)
            },
        ]

        private static func visiting(_ count: Int, in cell: FaultCell) -> FaultExpectation {
            FaultExpectation("redirect_limit", in: cell).attempting(count).requesting(count)
        }

        private static func redirect(to location: String, status: Int = 302) -> LoopbackResponse {
            .status(status, headers: ["Location": location])
        }

        private static let followed: [(String, @Sendable (RecordedRequest) -> String, String)] = [
            ("a relative one", { _ in "../c?d" }, "/a/c?d"),
            ("one with %2F", { _ in "/a%2Fc" }, "/a%2Fc"),
            ("one to //host", { "//\($0.headers["Host"] ?? "")/c" }, "/c"),
        ]

        private static let oddRedirects: [Fault] =
            followed.map { title, location, end in
                Fault(number: 28, title: title) { _ in
                    let scene = FaultScene.serving("end") { request in
                        request.path == "/a/b/fault" ? redirect(to: location(request)) : .ok("end")
                    }
                    return scene.with {
                        $0.target = "/a/b/fault"
                        $0.check = { seen in
                            let target = seen.requests.last?.target
                            return target == end ? nil : "it led to \(target ?? "nothing")"
                        }
                    }
                } expectation: {
                    FaultExpectation("success", in: $0).attempting(2).requesting(2)
                }
            }
            + [
                ("an empty one", []), ("one that is no URL", Array("http://[::bad/c".utf8)),
                ("one to a file", Array("file:///etc/passwd".utf8)),
                ("one in Latin-1", [0x2F, 0xE9]),
            ].map { (title: String, location: [UInt8]) in
                let head = Array("HTTP/1.1 302 Found\r\nContent-Length: 2\r\nLocation: ".utf8)
                return .text(
                    28, title, .bytes(head + location + Array("\r\n\r\nat".utf8)), meant: "at"
                ) {
                    FaultExpectation("302", in: $0)
                }
            }

        private static let keptBodies: [Fault] = [307, 308].map { status in
            Fault(number: 29, title: "\(status) with a body") { cell in
                let scene = FaultScene.serving("end") { request in
                    request.path == "/fault" ? redirect(to: "/c", status: status) : .ok("end")
                }
                return scene.with {
                    $0.check = { seen in
                        let kept = seen.requests.allSatisfy {
                            $0.isComplete && $0.method.rawValue == cell.method.rawValue
                        }
                        return kept ? nil : "the method or the body was lost"
                    }
                }
            } expectation: {
                FaultExpectation("success", in: $0).attempting(2).requesting(2)
            }
        }
    }
#endif
