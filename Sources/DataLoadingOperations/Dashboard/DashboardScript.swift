// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The script of the dashboard: reads the events of the daemon and fills the elements.
///
/// Texts become text nodes and attributes only: the policy of the page refuses markup from strings.
enum DashboardScript {
    /// Its parts, as one script.
    static let text = [reading, showing, recent].joined(separator: "\n")

    /// The connection: the token, the stream of events, and what is said about it.
    private static let reading = #"""
        "use strict";
        const $ = id => document.getElementById(id);
        const maxRows = 100, silence = 35000;
        let token, frozen = false, isAsked = false, latest = null, loads = [], isFresh = false;
        let heard = 0, begun = performance.now(), asked = 0, pause = 2000, failures = 0, refusal = "", reader = null, wake = () => {};

        function takeToken() {
          let value = /^#token=(.+)$/.exec(location.hash)?.[1];
          // Storage may be forbidden; the token is then kept until the page is closed.
          try {
            if (!value) return sessionStorage.getItem("dataloading.token") ?? token;
            value = decodeURIComponent(value);
            sessionStorage.setItem("dataloading.token", value);
          } catch { /* It is taken as it is. */ }
          if (value) history.replaceState(null, "", location.pathname);
          return value ?? token;
        }

        async function follow() {
          for (;;) {
            asked = performance.now();
            reader = new AbortController();
            try { await read(reader.signal); } catch { failures += 1; }
            tick();
            if (isAsked) { isAsked = false; continue; }
            // A refused token stays one: ten of them, and the daemon refuses everybody for a minute.
            const rest = refusal === "token" ? 2 ** 31 - 1 : Math.min(30000, pause * 2 ** Math.min(4, failures));
            await new Promise(resolve => { wake = resolve; setTimeout(resolve, rest); });
            isAsked = false;
          }
        }
        async function read(signal) {
          const headers = { Accept: "text/event-stream" };
          if (token) headers.Authorization = "Bearer " + token;
          const response = await fetch("/events", { headers, signal, cache: "no-store", credentials: "omit" });
          if (!response.ok) {
            failures += 1;
            refuse(response.status);
            return;
          }
          refuse(0);
          isFresh = true;
          heard = performance.now();
          const bytes = response.body.getReader(), decoder = new TextDecoder();
          const event = { name: "", data: [] };
          let text = "";
          for (;;) {
            const { value, done } = await bytes.read();
            if (done) return;
            heard = performance.now();
            text += decoder.decode(value, { stream: true });
            // A CR at the end may be the first half of a line end.
            const lines = text.split(/\r\n|\n|\r(?!$)/);
            text = lines.pop();
            for (const line of lines) take(line, event);
          }
        }
        function take(line, event) {
          if (line === "") {
            if (event.data.length) receive(event.name, event.data.join("\n"));
            event.name = "";
            event.data = [];
            return;
          }
          const colon = line.indexOf(":");
          const field = colon < 0 ? line : line.slice(0, colon);
          const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
          if (field === "event") event.name = value;
          if (field === "data") event.data.push(value);
          // An id is not kept: after a new connection the page starts from a snapshot.
        }
        function receive(name, data) {
          let value;
          try { value = JSON.parse(data); } catch { return; }
          if (isFresh && (name === "snapshot" || name === "loads")) {
            loads = [];
            isFresh = false;
            failures = 0;
          }
          if (name === "snapshot" && value && typeof value === "object") {
            latest = value;
            measure(value);
          } else if (name === "loads" && Array.isArray(value)) {
            const last = loads.length ? loads[0].number : -1;
            loads = value.filter(load => load.number > last).reverse().concat(loads).slice(0, 200);
          }
          show();
          tick();
        }
        function refuse(status) {
          const was = refusal;
          refusal = status === 401 ? "token" : status ? "status" : "";
          if (!status) return;
          // What an earlier token has shown is not left on the screen.
          if (status === 401) {
            latest = shown = null;
            loads = [];
            $("data").hidden = true;
          }
          const [title, text] = {
            401: token ? ["The daemon refused the token", "It may have made a new one since it started again. Open "
                + "the address that it printed then, which ends in #token= and the token."]
              : ["This page needs a token", "Open the address that the daemon printed when it started, or add "
                + "#token= and the token of its configuration to the address of this page."],
            403: ["The daemon refused this address", "Open the page as 127.0.0.1 or localhost, or under a host "
                + "that its configuration allows."],
            429: ["Too many wrong tokens", "The daemon accepts none for a minute. The page tries again."]
          }[status] ?? ["The daemon answered with status " + status, "The page tries again."];
          $("notice-title").textContent = title;
          $("notice-text").textContent = text;
          if (!was) announce(title + ".");
        }

        // What is said about the connection changes with time.
        function tick() {
          const now = performance.now(), age = now - (heard || begun);
          // A connection that is silent for so long is none: comments come every 15 seconds.
          if (now - Math.max(heard, asked) > silence) reader.abort();
          const time = latest ? clock(latest.time) : "", isLost = !refusal && age > 4000;
          const [mark, text] = refusal ? ["bad", "✕ Refused"] : isLost ? ["bad", "✕ No connection"]
            : !latest ? ["idle", "○ Connecting"]
            : frozen ? ["warn", "■ Frozen at " + clock(shown.time)] : ["good", "● Live"];
          put($("link"), text);
          $("link").className = "state " + mark;
          $("clock").textContent = latest ? time + " UTC, up " + span(latest.uptime) : "";
          if (isLost) {
            put($("notice-title"), "No connection for " + span(age / 1000) + (latest ? "; the figures are from " + time : ""));
            put($("notice-text"), "The page tries again. Is the daemon running, and the tunnel open?");
          }
          $("notice").hidden = !(refusal || isLost);
          if (isLost && !tick.wasLost) announce("No connection. The figures are from " + time + ".");
          else if (tick.wasLost && !isLost && !refusal) announce("Connected again.");
          tick.wasLost = isLost;
          if (announce.text && now - announce.last >= 5000) say();
        }
        // At most one announcement in five seconds; of several the last one is read.
        function announce(text) {
          announce.text = text;
          if (performance.now() - (announce.last ?? -5000) >= 5000) say();
        }
        function say() {
          announce.last = performance.now();
          $("announcement").textContent = announce.text;
          announce.text = "";
        }

        const plural = (count, one, many) => count + " " + (count === 1 ? one : many);
        const two = number => String(number).padStart(2, "0");
        const clock = time => new Date(time * 1000).toISOString().slice(11, 19);
        function span(seconds) {
          const s = Math.floor(seconds), [d, h, m] = [86400, 3600, 60].map(unit => Math.floor(s / unit));
          if (d) return d + " d " + h % 24 + " h";
          if (h) return h + " h " + two(m % 60) + " min";
          return m ? m + " min " + two(s % 60) + " s" : s + " s";
        }
        function took(seconds) {
          if (seconds === undefined) return "–";
          if (seconds >= 100) return span(seconds);
          if (seconds >= 1) return seconds.toFixed(seconds < 10 ? 2 : 1) + " s";
          const ms = seconds * 1000;
          return (ms < 10 && ms > 0 ? ms.toFixed(1) : Math.round(ms)) + " ms";
        }
        const many = number => number === undefined ? "–" : Math.round(number).toLocaleString("en");
        const rate = number => number > 0 && number < 9.95 ? number.toFixed(1) : many(number);
        function size(bytes) {
          const names = ["B", "kB", "MB", "GB", "TB"];
          let unit = 0;
          while (bytes >= 999.5 && unit < 4) { bytes /= 1000; unit += 1; }
          return (unit && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)) + " " + names[unit];
        }
        """#
}
