// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Foundation
import Testing

/// A headless Chromium, driven by WebDriver: HTTP with JSON.
final class Browser {
    /// The path of `chromedriver`; nil where no browser is wanted.
    static let driver = ProcessInfo.processInfo.environment["DATALOADING_CHROMEDRIVER"]

    private let process: Process
    private let base: String
    private let service: DataLoaderService
    private let loader: DataLoader
    private var session = ""

    /// Starts a browser with a window of 1,280 by 900.
    init() async throws {
        (process, base) = try await Self.start()
        var configuration = DataLoaderService.Configuration()
        configuration.retry.maximumRetryCount = 0
        service = DataLoaderService(configuration: configuration)
        loader = service.makeFactory().makeDataLoader()
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
            "--force-device-scale-factor=1",
        ]
        let options: [String: Any] = [
            "goog:loggingPrefs": ["browser": "ALL"],
            "goog:chromeOptions": ["args": arguments],
        ]
        let answer = try await call(
            .post, "/session", ["capabilities": ["alwaysMatch": options]])
        session = "/session/" + ((answer as? [String: Any])?["sessionId"] as? String ?? "")
    }

    deinit {
        // The driver may have inherited that other signals are blocked.
        kill(process.processIdentifier, SIGKILL)
    }

    /// Ends the browser; its driver ends with this object.
    func quit() async {
        _ = try? await call(.delete, session)
        await service.shutDown(gracePeriod: .zero)
    }

    private static func start() async throws -> (Process, String) {
        try await withCheckedThrowingContinuation { continuation in
            // Waiting for a process blocks, which no thread of the concurrency pool may do.
            Thread.detachNewThread {
                continuation.resume(with: Result { try startAndWait() })
            }
        }
    }

    /// Returns when the driver has told its port.
    private static func startAndWait() throws -> (Process, String) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: driver ?? "chromedriver")
        process.arguments = ["--port=0"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while true {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "chromedriver has ended")
            text += String(decoding: data, as: UTF8.self)
            if let found = text.firstMatch(of: /on port ([0-9]+)\./) {
                return (process, "http://127.0.0.1:\(found.1)")
            }
        }
    }

    /// Sends a command, and returns its value.
    @discardableResult func call(
        _ method: HTTPMethod, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Any? {
        var request = DataLoaderRequest(url: testURL(base + path))
        request.method = method
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .data(try JSONSerialization.data(withJSONObject: body))
        }
        let response = try await loader.response(for: request)
        let json = try JSONSerialization.jsonObject(with: response.body ?? Data())
        return (json as? [String: Any])?["value"]
    }

    /// Opens a page.
    func open(_ url: String) async throws {
        try await call(.post, session + "/url", ["url": url])
    }

    /// The value of an expression in the page.
    @discardableResult func value(_ expression: String) async throws -> Any? {
        try await call(
            .post, session + "/execute/sync", ["script": "return (\(expression))", "args": []])
    }

    /// The text of the first element that a selector finds.
    func text(_ selector: String) async throws -> String {
        try await value("document.querySelector(`\(selector)`)?.innerText ?? ''") as? String ?? ""
    }

    /// Waits in the page until an expression is true; false if it does not become so in time.
    func holds(_ expression: String, within milliseconds: Int = 10_000) async throws -> Bool {
        let script = """
            const done = arguments[0], end = Date.now() + \(milliseconds);
            (function look() {
                if (\(expression)) done(true);
                else if (Date.now() > end) done(false);
                else setTimeout(look, 25);
            })();
            """
        return try await call(
            .post, session + "/execute/async", ["script": script, "args": []]) as? Bool ?? false
    }

    /// Presses keys, one after the other.
    func press(_ keys: String...) async throws {
        let actions = keys.flatMap { key in
            [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]]
        }
        try await call(
            .post, session + "/actions",
            ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    /// The role and the name of an element, as assistive technology has them.
    func accessible(_ selector: String) async throws -> [String] {
        let found = try await call(
            .post, session + "/element", ["using": "css selector", "value": selector])
        let element = (found as? [String: String])?.values.first ?? ""
        let path = session + "/element/" + element
        let role = try await call(.get, path + "/computedrole") as? String
        let label = try await call(.get, path + "/computedlabel") as? String
        return [role ?? "", label ?? ""]
    }

    /// Sends a command of Chromium's own protocol.
    @discardableResult func command(
        _ name: String, _ parameters: [String: Any]
    ) async throws -> [String: Any] {
        try await call(
            .post, session + "/goog/cdp/execute", ["cmd": name, "params": parameters])
            as? [String: Any] ?? [:]
    }

    /// Sets the size of the window, in CSS pixels.
    func resize(width: Int, height: Int, scale: Int = 1) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": scale, "mobile": false])
    }

    /// Sets what the user prefers, for example "prefers-color-scheme" to "dark".
    func prefer(_ features: [String: String]) async throws {
        let list = features.map { ["name": $0.key, "value": $0.value] }
        try await command("Emulation.setEmulatedMedia", ["features": list])
    }

    /// Writes a picture to the directory of `DATALOADING_SCREENSHOTS`, if there is one.
    func takePicture(_ name: String) async throws {
        let variables = ProcessInfo.processInfo.environment
        guard let directory = variables["DATALOADING_SCREENSHOTS"] else { return }
        let picture = try await command("Page.captureScreenshot", [:])["data"] as? String ?? ""
        try Data(base64Encoded: picture)?.write(
            to: URL(fileURLWithPath: directory).appendingPathComponent(name))
    }

    /// The messages of the console since the last call.
    func console() async throws -> [String] {
        let entries = try await call(.post, session + "/se/log", ["type": "browser"])
        return (entries as? [[String: Any]] ?? []).map { $0["message"] as? String ?? "" }
    }
}
