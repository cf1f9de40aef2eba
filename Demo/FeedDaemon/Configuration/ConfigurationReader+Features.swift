// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Features, and the token that some of them need.
extension ConfigurationReader {
    static func feature(
        _ node: JSONNode, _ credential: FeedConfiguration.Credential
    ) throws(Misreading) -> FeedConfiguration.Feature {
        let fields = try ObjectFields(
            node, of: "a feature", keys: ["name", "urls", "interval", "mode", "authorised"])
        let name = try fields.required("name").text("\"name\"")
        let interval = try fields.required("interval").seconds("\"interval\"")
        var feature = FeedConfiguration.Feature(name: name, urls: [], interval: interval)
        feature.isStreamed = try fields["mode"].map(isStreamed) ?? false
        feature.isAuthorised = try fields["authorised"]?.flag("\"authorised\"") ?? false
        for node in try fields.required("urls").elements("\"urls\"") {
            let url = try node.url("an entry of \"urls\"")
            if feature.isAuthorised { try check(url, of: node, against: credential) }
            feature.urls.append(url)
        }
        return feature
    }

    private static func isStreamed(_ node: JSONNode) throws(Misreading) -> Bool {
        switch try node.text("\"mode\"") {
        case "whole": return false
        case "chunks": return true
        case let mode: throw node.mistake("\"mode\" is \"whole\" or \"chunks\", not \"\(mode)\"")
        }
    }

    /// A token that would quietly not be sent is a mistake that is hard to find later.
    private static func check(
        _ url: URL, of node: JSONNode, against credential: FeedConfiguration.Credential
    ) throws(Misreading) {
        guard case .token(_, let hosts) = credential else {
            throw node.mistake("the feature is \"authorised\", and there is no \"token\"")
        }
        let port = url.port ?? 443
        let names = (url.host()?.lowercased()).map { host in
            ["\(host):\(port)", "\(host):*"] + (port == 443 ? [host] : [])
        }
        guard names?.contains(where: hosts.contains) == true else {
            throw node.mistake("the \"hosts\" of the \"token\" do not have this URL's host")
        }
        guard url.scheme?.lowercased() == "https" else {
            throw node.mistake("the \"token\" is sent by https only")
        }
    }

    static func credential(_ node: JSONNode) throws(Misreading) -> FeedConfiguration.Credential {
        let fields = try ObjectFields(
            node, of: "\"token\"", keys: ["value", "environment", "hosts"])
        var hosts: Set<String> = []
        for node in try fields.required("hosts").elements("\"hosts\"") {
            hosts.insert(try node.text("a host").lowercased())
        }
        switch (fields["value"], fields["environment"]) {
        case (let value?, nil):
            return .token(try value.text("\"value\""), hosts: hosts)
        case (nil, let variable?):
            // A token in a file is a token in its backups.
            let name = try variable.text("\"environment\"")
            guard let token = ProcessInfo.processInfo.environment[name], !token.isEmpty else {
                throw variable.mistake("the environment variable \(name) is not set")
            }
            return .token(token, hosts: hosts)
        default:
            throw Misreading(
                fields.position, "\"token\" needs either \"value\" or \"environment\"")
        }
    }
}
