// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DashboardScript {
    /// The recent loads, their waterfalls and details, and the start of everything.
    static let recent = #"""
        const parts = { slot: "queue", token: "token", backoff: "back-off", connect: "connect", tls: "TLS",
          server: "first byte", body: "body" };
        const causes = { retry: "retry", resumption: "rest of a body", redirect: "redirect",
          reauthorisation: "new token", nextAddress: "next address", replacement: "stale connection",
          wholeResponse: "whole response" };
        const paint = name => name === "connect" || name === "body" ? { class: "f-" + name }
          : { fill: "url(#p-" + name + ")" };

        // What a load did when: [part, start, end], and the ends of attempts that failed.
        function timeline(load) {
          const spans = [], faults = [], { slot, authorisation, backOff } = load.waits;
          const left = { token: authorisation, slot, backoff: backOff };
          let end = 0;
          const wait = (until, names) => {
            for (const name of names) {
              const length = Math.min(left[name], until - end);
              if (length <= 0) continue;
              spans.push([name, end, end + length]);
              left[name] -= length;
              end += length;
            }
            end = Math.max(end, until);
          };
          load.attempts.forEach((attempt, index) => {
            const { start, seconds, connect = 0, tls = 0, firstByte } = attempt, last = start + seconds;
            wait(start, index ? ["backoff", "token", "slot"] : ["token", "slot"]);
            const marks = [["connect", Math.min(last, start + connect)], ["tls", Math.min(last, start + connect + tls)],
              ["server", firstByte === undefined ? last : Math.min(last, start + firstByte)], ["body", last]];
            let from = start;
            for (const [name, to] of marks) {
              if (to > from) spans.push([name, from, to]);
              from = Math.max(from, to);
            }
            end = Math.max(end, last);
            if (attempt.error || attempt.status >= 400) faults.push(last);
          });
          wait(load.seconds, ["backoff", "token", "slot"]);
          return { spans, faults };
        }
        function waterfall(load, length, height) {
          const { spans, faults } = timeline(load);
          const sums = new Map();
          for (const [name, from, to] of spans) sums.set(name, (sums.get(name) ?? 0) + to - from);
          const label = [...sums].map(([name, sum]) => parts[name] + " " + took(sum)).join(", ");
          const graphic = draw("svg", { width: "100%", height, role: "img",
            "aria-label": (label || "nothing was sent") + (faults.length ? "; " + plural(faults.length, "attempt", "attempts")
                + " failed" : "") });
          const place = time => Math.min(100, time / length * 100);
          graphic.append(draw("rect", { class: "track", y: height - 1, width: "100%", height: 1 }));
          for (const [name, from, to] of spans) {
            const width = Math.max(0.4, place(to) - place(from));
            if (from < length) graphic.append(draw("rect", { x: place(from) + "%", width: width + "%", height: height - 2, ...paint(name) }));
          }
          for (const time of faults) {
            const mark = draw("svg", { x: place(time) + "%", class: "spark" });
            const y = height / 2 - 1;
            mark.append(draw("path", { class: "beyond", d: "M-9 0h9v" + height + "h-9z" }), draw("path", { class: "cross", d: "M-8 " + (y - 4) + "l7 8m0-8l-7 8" }));
            graphic.append(mark);
          }
          // The bar goes on beyond the scale.
          if (load.seconds > length) {
            graphic.append(draw("svg", { x: "100%", class: "spark" }, draw("path", { class: "beyond", d: "M-9 0h9v" + height
                + "h-9l5-" + height / 2 + "z" }), draw("path", { class: "arrow", d: "M-8 0l5 " + height / 2 + "l-5 " + height / 2 })));
          }
          return graphic;
        }
        // A round number that nine of ten bars fit into.
        function roundScale(list) {
          const times = list.map(load => load.seconds).sort((a, b) => a - b);
          const time = Math.max(0.01, times[Math.floor(times.length * 0.9)] ?? 1), unit = 10 ** Math.floor(Math.log10(time));
          return [1, 2, 5, 10].map(step => step * unit).find(step => step >= time);
        }
        const result = load => load.outcome === "success" ? state("good", "●", load.status ?? "done")
          : load.outcome === "cancelled" ? state("muted", "○", "cancelled")
          : state("bad", "✕", [load.status, load.error === String(load.status) ? "" : words(load.error)]
            .filter(Boolean).join(" ") || "failed");
        const words = name => (name ?? "").replaceAll("_", " ");
        const address = load => load.internal ? "an authoriser's own request"
          : load.method + " " + load.url.replace(/^https:\/\//, "");

        function showLoads(isAsked) {
          const feature = $("feature").value, onlyFailures = $("failures").checked;
          const names = [...new Set([...shown.features.map(item => item.name), ...loads.map(load => load.feature)])]
            .filter(name => name !== undefined).sort();
          const options = $("feature").options;
          if (names.join("\n") !== [...options].slice(1).map(option => option.value).join("\n")) {
            const all = options[0];
            $("feature").replaceChildren(all, ...names.map(name => make("option", { value: name }, name)));
            $("feature").value = names.includes(feature) ? feature : "";
          }
          const list = loads.filter(load => (!feature || load.feature === feature)
              && (!onlyFailures || load.outcome === "failure")).slice(0, maxRows);
          const body = $("loads").tBodies[0];
          const isRead = body.querySelector(".details") || body.contains(document.activeElement);
          const newest = Number(body.dataset.newest ?? 0);
          const waiting = list.filter(load => load.number > newest).length;
          // Rows do not move under the eyes of who reads one of them.
          const isHeld = isRead && !isAsked && newest > 0 && loads.length && loads[0].number >= newest;
          $("newer").hidden = !(isHeld && waiting);
          put($("newer"), "Show " + plural(waiting, "newer load", "newer loads"));
          if (isHeld) return;
          const nextScale = roundScale(list), isRescaled = nextScale !== scale;
          scale = nextScale;
          put($("scale"), list.length ? "0 to " + took(scale) : "");
          const present = new Map([...body.rows].filter(row => row.dataset.number).map(row => [Number(row.dataset.number), row]));
          const focused = document.activeElement?.closest("tr")?.dataset.number;
          const lines = list.map(load => {
            const old = present.get(load.number), isSame = old && old.load === load;
            const row = isSame ? old : loadRow(load);
            // Where many come at once, none stands out, and a browser would paint all the time.
            if (!isSame && newest && waiting <= 5) row.classList.add("new");
            if (isSame && isRescaled) put(row.lastChild, waterfall(load, scale, 14));
            return row;
          });
          const all = lines.flatMap(row => row.details ? [row, row.details] : [row]);
          arrange(body, all.length ? all : [make("tr", {}, make("td", { colspan: 8, class: "muted" },
            loads.length ? "No load fits the filter." : "No load has ended yet."))]);
          body.dataset.newest = loads.length ? loads[0].number : 0;
          const buttons = [...body.querySelectorAll("th > button")];
          const current = buttons.find(button => button.closest("tr").dataset.number === focused) ?? buttons[0];
          for (const button of buttons) button.tabIndex = button === current ? 0 : -1;
          if (focused) current?.focus();
        }
        // Rows that stay are not touched, so that their focus and a selection stay too.
        function arrange(body, all) {
          let place = body.firstChild;
          for (const row of all) {
            if (row === place) place = place.nextSibling;
            else body.insertBefore(row, place);
          }
          while (place) {
            const gone = place;
            place = place.nextSibling;
            gone.remove();
          }
        }
        function loadRow(load) {
          const button = make("button", { type: "button", "aria-expanded": "false",
            "aria-label": "Load " + load.load + ", ended " + clock(load.started + load.seconds) }, make("span",
              { "aria-hidden": "true" }, "▸"), clock(load.started + load.seconds));
          const row = make("tr", { "data-number": load.number, class: load.outcome },
            make("th", { scope: "row" }, button), make("td", { class: "feature" }, load.feature ?? "–"),
            make("td", { class: "request", title: address(load) }, address(load)),
            make("td", {}, result(load)),
            make("td", { class: "n" }, String(load.attempts.length + (load.attemptsLeftOut ?? 0))),
            make("td", { class: "n" }, size(load.bytes.down + load.bytes.up)),
            make("td", { class: "n" }, took(load.seconds)), make("td", { class: "wide" }, waterfall(load, scale, 14)));
          row.load = load;
          return row;
        }
        function toggle(row) {
          const button = row.querySelector("button");
          const isOpen = !row.details;
          if (isOpen) {
            row.details = details(row.load);
            row.after(row.details);
          } else {
            row.details.remove();
            row.details = null;
          }
          button.setAttribute("aria-expanded", String(isOpen));
          button.firstChild.textContent = isOpen ? "▾" : "▸";
        }
        function details(load) {
          const facts = { Request: address(load), Load: load.load,
            Started: new Date(load.started * 1000).toISOString().replace("T", " "),
            "Waited in queue": took(load.waits.slot), "for a token": took(load.waits.authorisation),
            "between tries": took(load.waits.backOff), Received: size(load.bytes.down), Sent: size(load.bytes.up) };
          if (load.error) facts.Error = words(load.error);
          const cell = make("td", { colspan: 8 }, make("dl", {}, ...Object.entries(facts).map(([name, value]) =>
            make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
            waterfall(load, Math.max(load.seconds, 1e-6), 20));
          const head = ["Start", "Why", "Address", "Connection", "Connect", "TLS", "First byte", "Took", "Result"];
          if (load.attempts.length) cell.append(make("table", {},
            make("caption", {}, "Attempts of load " + load.load + (load.attemptsLeftOut
                ? "; " + load.attemptsLeftOut + " between the first and the second are not kept" : "")),
            make("thead", {}, make("tr", {}, ...head.map(name => make("th", { scope: "col" }, name)))),
            make("tbody", {}, ...load.attempts.map(attemptRow))));
          return make("tr", { class: "details" }, cell);
        }
        function attemptRow(attempt) {
          const { status, error } = attempt, isBad = error || status >= 400;
          const cells = [causes[attempt.cause] ?? "first", attempt.address ?? "–",
            (attempt.reused ? "kept" : "new") + (attempt.version ? ", HTTP/" + attempt.version : ""),
            took(attempt.connect), took(attempt.tls), took(attempt.firstByte), took(attempt.seconds),
            state(isBad ? "bad" : "good", isBad ? "✕" : "●", [status, words(error)].filter(Boolean).join(" ") || "done")];
          return make("tr", {}, make("th", { scope: "row" }, took(attempt.start)), ...cells.map(value => make("td", {}, value)));
        }

        $("loads").tBodies[0].addEventListener("click", event => {
          const row = event.target.closest("tr[data-number]");
          // Text that was just selected is meant to be copied.
          if (row && (event.target.closest("button") || String(getSelection()) === "")) toggle(row);
        });
        $("loads").tBodies[0].addEventListener("keydown", event => {
          const buttons = [...$("loads").tBodies[0].querySelectorAll("th > button")];
          const from = buttons.indexOf(event.target);
          const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: buttons.length - 1 }[event.key];
          if (from < 0 || !buttons[to]) return;
          event.preventDefault();
          buttons[from].tabIndex = -1;
          buttons[to].tabIndex = 0;
          buttons[to].focus();
        });
        for (const id of ["feature", "failures"]) $(id).addEventListener("change", () => { close(); if (shown) showLoads(true); });
        $("newer").addEventListener("click", () => { close(); showLoads(true); });
        function close() {
          for (const row of [...$("loads").tBodies[0].rows]) if (row.details) toggle(row);
        }
        $("freeze").addEventListener("click", () => {
          frozen = !frozen;
          $("freeze").setAttribute("aria-pressed", String(frozen));
          show();
          tick();
        });
        addEventListener("hashchange", () => {
          token = takeToken();
          failures = heard = 0;
          begun = performance.now();
          isAsked = true;
          reader.abort();
          wake();
        });
        for (const [name, title] of Object.entries(parts)) {
          $("legend").append(make("li", {}, draw("svg", { width: 16, height: 10, "aria-hidden": "true" },
            draw("rect", { width: 16, height: 10, ...paint(name) })), title));
        }
        token = takeToken();
        $("host").textContent = location.host;
        setInterval(tick, 1000);
        follow();
        """#
}
