// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

@testable import DataLoading
@testable import DataLoadingOperations
import DataLoadingTesting
import Foundation
import Testing

/// The dashboard in a browser; the variable `DATALOADING_CHROMEDRIVER` names its driver.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Browser.driver != nil, "chromedriver is not installed"))
struct DashboardBrowserTests {
    private static let token = "0123456789abcdef"
    private static let tab = "\u{E004}"
    private static let enter = "\u{E007}"
    private static let down = "\u{E015}"
    private static let activeName = """
        document.activeElement.id || document.activeElement.getAttribute('aria-label')
        """

    /// Runs a test with a browser that shows a page, and checks what its console has at the end.
    private func withBrowser(
        token: String = token, traffic: Bool = true, complaints: [String] = [],
        _ body: (Browser, DashboardScene, DashboardServer) async throws -> Void
    ) async throws {
        let scene = DashboardScene()
        if traffic { try scene.makeTraffic() }
        let server = try DashboardServer(scene.state, token: Self.token)
        defer { server.goDown() }
        let browser = try await Browser()
        do {
            try await browser.prefer(["prefers-color-scheme": "light"])
            try await browser.open("\(server.url)#token=\(token)")
            try await body(browser, scene, server)
            let console = try await browser.console()
            #expect(console.count == complaints.count, "\(console)")
            for (message, part) in zip(console, complaints) { #expect(message.contains(part)) }
        } catch {
            await browser.quit()
            throw error
        }
        await browser.quit()
    }

    private func isFilled(_ browser: Browser) async throws -> Bool {
        try await browser.holds("document.querySelectorAll('#loads tbody tr').length === 100")
    }

    @Test func `the page shows what a snapshot says within two seconds`() async throws {
        try await withBrowser { browser, scene, server in
            #expect(try await isFilled(browser))
            #expect(try await browser.text("#words") == scene.sentence)
            #expect(try await browser.value("location.href") as? String == "\(server.url)")
            scene.load(70, feature: "a new feature", error: .dns)
            let sentence = scene.sentence
            #expect(sentence.contains("a new feature: 70 of 70 loads failed"))
            #expect(
                try await browser.holds(
                    "document.getElementById('words').textContent === `\(sentence)`",
                    within: 2_000))
            let cells = """
                [...document.querySelectorAll('#features tbody tr')].map(row =>
                    [row.cells[0].textContent, row.cells[2].textContent, row.cells[7].innerText])
                """
            let features = try #require(try await browser.value(cells) as? [[String]])
            #expect(
                features.map(\.first)
                    == scene.features.compactMap { $0["name"] as? String }
                    .sorted())
            #expect(features.first == ["a new feature", "0 %", "dns 0 s ago"])
            let newest = try #require(scene.loads(after: scene.loadsMade - 1)?.loads.first)
            let row = try await browser.text("#loads tbody tr")
            #expect(row.contains("dns"))
            #expect(row.contains("a new feature"))
            #expect(newest["error"] as? String == "dns")
            #expect(
                try await browser.text("#credentials tbody tr").hasPrefix("OAuthAuthoriser"))
            #expect(
                try await browser.value("document.querySelectorAll('#addresses tbody tr').length")
                    as? Int == 4)
            #expect(try await browser.text("#rules tbody tr:nth-child(2)").contains("held for"))
        }
    }

    @Test func `the page shows for each rate how daemons share it`() async throws {
        let limiter = RateLimiter(defaultRequestsPerSecond: nil)
        limiter.setRequestsPerSecond(5, forHostOf: testURL("https://a.test/"))
        limiter.setRequestsPerSecond(0, forHostOf: testURL("https://b.test/"))
        let texts: [(source: SharingState.Source, present: Int, text: String)] = [
            (.store, 8, "● open shared by 8"), (.store, 6, "● open shared by 8, 6 there"),
            (.ownShare, 6, "● open own share 1/8"),
            (.none, 6, "● open waits: the fleet's store is gone"),
        ]
        try await withBrowser(traffic: false) { browser, scene, _ in
            for row in texts {
                let sharing = SharingState(source: row.source, present: row.present, known: 8)
                scene.state.show { .make(limiter: limiter, sharing: sharing) }
                let cell = "document.querySelector('#rules tbody tr td')?.innerText"
                let isShown = try await browser.holds("\(cell) === `\(row.text)`")
                #expect(isShown, "\(row.text)")
                let paused = try await browser.text("#rules tbody tr:nth-child(2) td")
                #expect(paused == "■ paused")
            }
        }
    }

    @Test func `a wrong token shows how to get the right one, and no data`() async throws {
        try await withBrowser(token: "wrong", complaints: ["401"]) { browser, scene, server in
            #expect(try await browser.holds("!document.getElementById('notice').hidden"))
            #expect(try await browser.text("main").hasPrefix("The daemon refused the token"))
            #expect(
                try await browser.value("document.body.innerText.includes('catalogue')") as? Bool
                    == false)
            #expect(try await browser.text("#link") == "✕ Refused")
            try await browser.takePicture("refused.png")
            // The address with the right one is the same page.
            try await browser.open("\(server.url)#token=\(Self.token)")
            #expect(try await isFilled(browser))
            #expect(
                try await browser.value("document.getElementById('notice').hidden") as? Bool
                    == true)
        }
    }

    @Test func `elements have roles and names`() async throws {
        try await withBrowser { browser, _, _ in
            #expect(try await isFilled(browser))
            #expect(try await browser.accessible("#freeze") == ["button", "Freeze"])
            #expect(try await browser.accessible("#feature") == ["combobox", "Feature"])
            #expect(try await browser.accessible("#failures") == ["checkbox", "Failures only"])
            #expect(try await browser.accessible("h1").first == "heading")
            #expect(try await browser.accessible("#announcement").first == "status")
            #expect(try await browser.accessible("#health") == ["region", "Health"])
            let table = try await browser.accessible("#features")
            #expect(table.first == "table")
            #expect(table.last?.hasPrefix("Loads by source identifier") == true)
            #expect(
                try await browser.accessible("#features thead th") == ["columnheader", "Feature"])
            #expect(
                try await browser.accessible("#features tbody th") == ["rowheader", "catalogue"])
            let bar = try await browser.accessible("#features tbody td:nth-child(6) svg")
            #expect(["image", "img"].contains(bar.first))
            #expect(bar.last?.hasPrefix("Queue ") == true)
            let load = try await browser.accessible("#loads tbody button")
            #expect(load.first == "button")
            #expect(load.last?.hasPrefix("Load ") == true)
        }
    }

    @Test func `the keyboard reaches everything, and opens a load`() async throws {
        try await withBrowser { browser, scene, _ in
            #expect(try await isFilled(browser))
            var names: [String] = []
            for _ in 0..<4 {
                try await browser.press(Self.tab)
                names.append(try await browser.value(Self.activeName) as? String ?? "")
            }
            #expect(names.prefix(3) == ["freeze", "feature", "failures"])
            #expect(names.last?.hasPrefix("Load \(scene.loadsMade),") == true)
            try await browser.press(Self.down, Self.enter)
            #expect(
                try await browser.text("tr.details").contains("Load\n\(scene.loadsMade - 1)"))
            #expect(
                try await browser.value("document.activeElement.getAttribute('aria-expanded')")
                    as? String == "true")
            // Newer loads wait while one is open.
            scene.load(3)
            #expect(try await browser.holds("!document.getElementById('newer').hidden"))
            #expect(try await browser.text("#newer") == "Show 3 newer loads")
            try await browser.value("document.getElementById('newer').click()")
            #expect(
                try await browser.holds(
                    "document.querySelector('#loads tbody tr').load.load === \(scene.loadsMade)"))
            #expect(try await browser.text("tr.details") == "")
        }
    }

    @Test func `twice as large, the page does not scroll sideways`() async throws {
        try await withBrowser { browser, _, _ in
            #expect(try await isFilled(browser))
            for width in [1_280, 640, 320] {
                try await browser.resize(width: width, height: 450, scale: 2)
                #expect(
                    try await browser.holds(
                        "document.documentElement.scrollWidth <= \(width)", within: 3_000))
            }
            // What is too wide scrolls in a box that the keyboard reaches.
            #expect(
                try await browser.holds(
                    "document.querySelector('#loads').parentNode.tabIndex === 0"))
            try await browser.resize(width: 640, height: 900, scale: 2)
            try await browser.takePicture("narrow.png")
        }
    }

    @Test func `who wants less motion gets none`() async throws {
        let moves = """
            (() => {
                const row = document.querySelector('#loads tbody tr');
                row.classList.add('new');
                return getComputedStyle(row.cells[0]).animationName;
            })()
            """
        try await withBrowser { browser, _, _ in
            #expect(try await isFilled(browser))
            #expect(try await browser.value(moves) as? String == "arrive")
            try await browser.prefer(["prefers-reduced-motion": "reduce"])
            #expect(try await browser.value(moves) as? String == "none")
        }
    }

    @Test func `a frozen page does not change until it continues`() async throws {
        try await withBrowser { browser, scene, _ in
            #expect(try await isFilled(browser))
            try await browser.value("document.getElementById('freeze').click()")
            #expect(
                try await browser.value("document.getElementById('freeze').ariaPressed") as? String
                    == "true")
            #expect(try await browser.text("#link").hasPrefix("■ Frozen at "))
            let before = try await browser.text("#data")
            scene.load(5, feature: "later")
            scene.clock.advance(by: .seconds(5))
            // The clock in the header still runs, so that the events have arrived.
            let time = try await browser.text("#clock")
            #expect(
                try await browser.holds("document.getElementById('clock').innerText !== '\(time)'"))
            #expect(try await browser.text("#data") == before)
            try await browser.value("document.getElementById('freeze').click()")
            #expect(try await browser.holds("document.body.innerText.includes('later')"))
        }
    }

    @Test func `a page without a connection says how old its figures are`() async throws {
        try await withBrowser { browser, _, server in
            #expect(try await isFilled(browser))
            server.goDown()
            #expect(
                try await browser.holds(
                    "document.getElementById('notice').innerText.startsWith('No connection for ')",
                    within: 15_000))
            #expect(try await browser.text("#notice").contains("the figures are from "))
            #expect(try await isFilled(browser))
            try server.comeUp()
            #expect(
                try await browser.holds(
                    "document.getElementById('notice').hidden", within: 30_000))
            #expect(try await browser.text("#link") == "● Live")
            // Failed connections are in the console, and nothing else.
            let console = try await browser.console()
            #expect(console.allSatisfy { $0.contains("net::ERR_") }, "\(console)")
        }
    }

    @Test func `a service without loads has a page too`() async throws {
        try await withBrowser(traffic: false) { browser, scene, _ in
            scene.state.show { .make() }
            #expect(
                try await browser.holds(
                    "document.getElementById('words').textContent === `\(scene.sentence)`"))
            #expect(try await browser.text("#features tbody") == "No load has ended yet.")
            #expect(try await browser.text("#loads tbody") == "No load has ended yet.")
            try await browser.takePicture("empty.png")
        }
    }

    @Test func `pictures are taken in both schemes`() async throws {
        try await withBrowser { browser, _, _ in
            try await browser.resize(width: 1_280, height: 1_240)
            #expect(try await isFilled(browser))
            let ground = "getComputedStyle(document.body).backgroundColor"
            let light = try await browser.value(ground) as? String
            try await browser.takePicture("light.png")
            try await browser.prefer(["prefers-color-scheme": "dark"])
            #expect(try await browser.value(ground) as? String != light)
            try await browser.takePicture("dark.png")
        }
    }
}
