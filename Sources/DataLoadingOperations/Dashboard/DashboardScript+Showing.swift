// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

extension DashboardScript {
    /// The tables, the graphics and the controls.
    static let showing = #"""
        const svgSpace = "http://www.w3.org/2000/svg";
        let shown = null, rates = new Map(), scale = 1;

        function make(name, attributes = {}, ...children) {
          const element = document.createElement(name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          element.append(...children);
          return element;
        }
        function draw(name, attributes = {}, ...children) {
          const element = document.createElementNS(svgSpace, name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          element.append(...children);
          return element;
        }
        // Changes only what differs, so that a selection of text stays.
        function put(element, content) {
          if (content instanceof Node) {
            if (element.firstChild?.isEqualNode(content) && element.childNodes.length === 1) return;
            element.replaceChildren(content);
          } else if (element.textContent !== String(content) || element.firstElementChild) {
            element.textContent = content;
          }
        }
        const state = (kind, mark, words) => make("span", { class: "state " + kind },
          make("span", { "aria-hidden": "true" }, mark + " "), words);
        const failed = (shown, { lastFailure: last }) => last
          ? make("span", {}, shown, make("small", {}, " last: " + last)) : shown;

        // Fills a table; a cell is its content, or [content, class].
        function rows(id, items, cells, empty) {
          const body = $(id).tBodies[0];
          const lines = items.length ? items.map(cells) : [[[empty, "muted"]]];
          while (body.rows.length > lines.length) body.deleteRow(-1);
          lines.forEach((line, index) => {
            let row = body.rows[index];
            if (row && row.cells.length !== line.length) {
              const other = make("tr");
              row.replaceWith(other);
              row = other;
            }
            row ??= body.insertRow();
            line.forEach((content, column) => {
              const [value, kind] = Array.isArray(content) ? content : [content, ""];
              const isHeader = column === 0 && items.length > 0;
              let cell = row.cells[column];
              if (!cell) {
                cell = make(isHeader ? "th" : "td", isHeader ? { scope: "row" } : {});
                if (!items.length) cell.colSpan = 9;
                row.append(cell);
              }
              put(cell, value);
              if (cell.className !== kind) cell.className = kind;
              if (isHeader && !(value instanceof Node)) cell.title = value;
            });
          });
        }

        // Notes what each rule has admitted, for the rate that is kept.
        function measure(snapshot) {
          const next = new Map();
          for (const rule of snapshot.service?.rules ?? []) {
            const key = rule.origin + " " + (rule.pathComponent ?? "");
            let past = (rates.get(key) ?? []).filter(point => snapshot.time - point.time <= 10.5);
            if (past.length && past.at(-1).count > rule.admitted) past = [];
            next.set(key, [...past, { time: snapshot.time, count: rule.admitted }]);
          }
          rates = next;
        }
        function rateKept(rule) {
          const past = rates.get(rule.origin + " " + (rule.pathComponent ?? "")) ?? [];
          const [first, last] = [past[0], past.at(-1)];
          return past.length > 1 ? (last.count - first.count) / Math.max(0.5, last.time - first.time) : undefined;
        }

        function show() {
          if (frozen && shown || !latest) return;
          shown = latest;
          $("data").hidden = false;
          showHealth();
          showFeatures();
          if (shown.service) showService(shown.service);
          showLoads(false);
          // What can be scrolled sideways can be reached, and has a name.
          for (const box of document.querySelectorAll(".box")) {
            const isWide = box.scrollWidth > box.clientWidth;
            for (const [name, value] of [["tabindex", 0], ["role", "group"], ["aria-label", "Table, scrolls sideways"]]) {
              if (isWide) box.setAttribute(name, value);
              else box.removeAttribute(name);
            }
          }
        }
        function showHealth() {
          const { sentence, troubles, totals, service } = shown;
          const isStopped = !service || service.stage !== "open";
          const kind = isStopped ? "stopped" : troubles ? "trouble" : "";
          $("health").className = kind;
          put($("mark"), isStopped ? "■" : troubles ? "▲" : "●");
          put($("words"), sentence);
          document.title = (troubles ? plural(troubles, "trouble", "troubles") + " · " : "") + "DataLoading";
          // Seconds that run down are no news.
          const news = sentence.replace(/[\d.,]+/g, "");
          if (showHealth.news !== news) announce(sentence);
          showHealth.news = news;
          const figures = [["Loads/s", rate(totals.loadsPerSecond)],
            ["Failures/s", rate(totals.failuresPerSecond), "", totals.failuresPerSecond > 0],
            ["Bytes/s", size(totals.bytesPerSecond)]];
          if (service) {
            figures.push(["Queue", many(service.waiting), " of " + many(service.queueCapacity)]);
            figures.push(["Attempts running", many(service.running)]);
            if (service.cache) figures.push(["Cache hits", many(service.cache.hits)]);
            const { openConnections, longestRound } = service.transport ?? {};
            if (openConnections !== undefined) figures.push(["Connections", many(openConnections)]);
            if (longestRound !== undefined) figures.push(["Loop delay", took(longestRound)]);
          }
          figures.push(["Loads since start", many(totals.loads), " (" + many(totals.failures) + " failed)"]);
          const lost = (totals.logLinesDropped ?? 0) + (service?.droppedConsumptionNotices ?? 0);
          figures.push(["Log lines and reports lost", many(lost), "", lost > 0]);
          figures.forEach(([name, value, more, isBad], index) => {
            const cell = $("figures").children[index]
              ?? $("figures").appendChild(make("div", {}, make("dt"), make("dd")));
            put(cell.firstChild, name);
            const line = make("span", {}, value);
            if (more) line.append(make("small", {}, more));
            put(cell.lastChild, line);
            cell.lastChild.className = isBad ? "bad" : "";
          });
          while ($("figures").children.length > figures.length) $("figures").lastChild.remove();
        }
        function showFeatures() {
          const named = (a, b) => (a.name === undefined) - (b.name === undefined)
            || String(a.name).localeCompare(b.name);
          rows("features", shown.features.slice().sort(named), feature => {
            const minute = feature.minute, ended = minute.loads - minute.cancelled;
            const share = ended ? (ended - minute.failures) / ended : undefined;
            // Rounded down: 100 % means that none has failed.
            const success = share === undefined ? "–" : Math.floor(share * 1000) / 10 + " %";
            const kind = share < 0.9 ? "n bad" : share < 0.99 ? "n warn" : "n";
            return [[feature.name ?? "no name", feature.name === undefined ? "muted" : ""],
              [rate(feature.loadsPerSecond), "n"], [success, kind],
              [took(minute.p50), "n"], [took(minute.p99), "n"], waits(minute), curve(feature),
              feature.lastError ? make("span", {}, make("span", { class: "bad" }, feature.lastError), make("span",
                { class: "muted" }, " " + ago(feature.lastErrorTime))) : ["none", "muted"]];
            }, "No load has ended yet.");
          more("features", shown.otherFeatures, "feature", "features");
        }
        const ago = time => span(Math.max(0, shown.time - time)).replace(/ \d+ s$/, m => m.length > 5 ? "" : m)
          + " ago";
        function more(id, count, one, name) {
          put($(id + "-more"), count ? plural(count, "more " + one + " is", "more " + name + " are") + " not shown." : "");
        }
        // A bar of parts, each a share of 100 with its attributes, and a text beside it.
        function bar(width, label, parts, text) {
          const graphic = draw("svg", { width, height: 11, role: "img", "aria-label": label },
            draw("rect", { class: "track", width: "100%", height: 11 }));
          let x = 0;
          for (const [share, look] of parts) {
            if (share > 0) graphic.append(draw("rect", { x: x + "%", width: share + "%", height: 11, ...look }));
            x += share;
          }
          return make("span", { class: "meter" }, graphic, make("span", {}, text));
        }
        function waits({ slot, authorisation, backOff, total }) {
          if (!total) return ["–", "muted"];
          const share = time => time / total * 100, all = share(slot + authorisation + backOff);
          return bar(112, "Queue " + took(slot) + ", token " + took(authorisation) + ", back-off " + took(backOff) + ", of "
              + took(total), [[share(slot), paint("slot")], [share(authorisation), paint("token")],
              [share(backOff), paint("backoff")]], (all > 0 && all < 1 ? "<1" : Math.round(all)) + " %");
        }
        function curve(feature) {
          const points = [...feature.bytes ?? ""].map(digit => parseInt(digit, 36) / 35);
          const [width, height, step] = [150, 22, 150 / 59];
          const line = points.map((value, i) => (i * step).toFixed(1) + " " + (height - 4 - value * 17).toFixed(1));
          const graphic = draw("svg", { class: "spark", width, height, role: "img",
            "aria-label": "Bytes a second over ten minutes: now " + size(feature.bytesPerSecond) + ", at most "
              + size(feature.peak) + (feature.failures ? "; marks show failures" : "") },
            draw("path", { class: "area", d: "M0 18L" + line.join("L") + "L" + width + " 18Z" }),
            draw("path", { class: "curve", d: "M" + line.join("L") }));
          [...feature.failures ?? ""].forEach((digit, i) => {
            if (digit !== "0") graphic.append(draw("path", { class: "fault", d: "M" + (i * step).toFixed(1) + " 18l2 4h-4z" }));
          });
          return make("span", { class: "meter" }, graphic, make("span", {}, size(feature.bytesPerSecond)));
        }
        function showService(service) {
          const whole = new Set(service.rules.filter(rule => !rule.pathComponent).map(rule => rule.origin));
          const hosts = new Map(service.origins.map(origin => [origin.origin, origin]));
          const others = service.origins.filter(origin => !whole.has(origin.origin)).map(origin =>
            ({ origin: origin.origin, requestsPerSecond: service.defaultRequestsPerSecond, isUsual: true }));
          const all = [...service.rules, ...others].sort((a, b) => a.origin.localeCompare(b.origin)
              || (a.pathComponent ?? "").localeCompare(b.pathComponent ?? ""));
          rows("rules", all, rule => {
            const host = rule.pathComponent ? undefined : hosts.get(rule.origin);
            const mark = rule.gateRemaining !== undefined
              ? state("warn", "◆", "held for " + span(Math.ceil(rule.gateRemaining)))
              : rule.requestsPerSecond === 0 ? state("warn", "■", "paused")
              : host?.isFailing ? state("bad", "✕", "no connection") : state("good", "●", "open");
            if (service.sharing && rule.requestsPerSecond) mark.append(shared(service.sharing));
            const set = rule.requestsPerSecond === undefined ? "no limit" : rule.requestsPerSecond + "/s";
            const kept = rule.isUsual ? undefined : rateKept(rule);
            return [rule.pathComponent ? ["/" + rule.pathComponent, "part"] : rule.origin.replace(/^https:\/\//, ""),
              mark, [set, rule.isUsual ? "n muted" : "n"], [kept === undefined ? "–" : rate(kept) + "/s", "n"],
              [many(host?.waiting), "n"], [host ? many(host.running) + " / " + many(host.limit) : "–", "n"],
              host?.retryBudget === undefined ? ["–", "muted"] : budget(host.retryBudget),
              [rule.isUsual ? "–" : many(rule.gateClosings), "n"]];
            }, "No host has loads or a rate of its own.");
          more("rules", service.otherRules + service.otherOrigins, "host or rule", "hosts and rules");
          rows("addresses", service.addresses.slice().sort((a, b) => a.host.localeCompare(b.host)
              || a.address.localeCompare(b.address)), address => [make("span", {}, address.address,
              make("small", {}, address.host)), failed({
                inUse: () => state("good", "●", "in use"), probing: () => state("warn", "◆", "probing"),
                due: () => state("warn", "◇", "tried next"),
                ejected: () => state("bad", "✕", "left out for " + span(Math.ceil(address.ejectionRemaining ?? 0)))
              }[address.condition]?.() ?? address.condition, address)], "None is set.");
          more("addresses", service.otherAddresses, "address", "addresses");
          const credentials = service.credentials;
          $("credentials-section").hidden = !credentials;
          if (credentials) rows("credentials", credentials, item => [item.authoriser,
            failed(item.isUsable
              ? state("good", "●", item.remaining === undefined ? "valid" : "valid for " + span(item.remaining))
              : state("bad", "✕", "no valid token"), item), [many(item.waiting), "n"], [many(item.fetches), "n"],
            [many(item.failures), item.failures ? "n bad" : "n"]], "No authoriser has a credential.");
        }
        // How a rate is shared with other daemons.
        function shared({ source, present, known }) {
          const isWell = source === "store";
          const words = isWell ? " shared by " + known + (present < known ? ", " + present + " there" : "")
            : source === "ownShare" ? " own share 1/" + known : " waits: the fleet's store is gone";
          return make("span", { class: isWell ? "muted" : "warn" }, words);
        }
        // 500 is the usual size of a budget.
        function budget(tokens) {
          const share = Math.min(100, tokens / 5);
          return bar(64, "Retry budget " + tokens + " of 500", [[share, { class: share < 20 ? "level low" : "level" }]], tokens);
        }
        """#
}
