// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The style of the dashboard, in a light and a dark scheme.
enum DashboardStyle {
    static let text = #"""
        :root {
          color-scheme: light dark;
          --page: #f3f5f8; --panel: #ffffff; --raised: #eaeef4; --text: #18202c; --muted: #525d6e;
          --line: #d8dee7; --link: #1a58b8; --good: #12663a; --warn: #835000; --bad: #b0231b;
          --bad-panel: #fdf0ee; --warn-panel: #fdf5e4; --good-panel: #eef7f1;
          --slot: #96701a; --token: #7b4bb8; --backoff: #c4500f; --connect: #5c6b7d; --tls: #0f7f8c;
          --server: #3f86d8; --body: #1c4f9f;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0f141b; --panel: #171d26; --raised: #222b37; --text: #e3e8ef; --muted: #9ca8b8;
            --line: #2c3644; --link: #83b4ff; --good: #63cf92; --warn: #ecb455; --bad: #ff8a80;
            --bad-panel: #32191a; --warn-panel: #2e2412; --good-panel: #14281d;
            --slot: #d4ae55; --token: #bb92f0; --backoff: #f58a4b; --connect: #93a3b6; --tls: #45b9c6;
            --server: #6aa9f2; --body: #4a86e0;
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body {
          margin: 0; background: var(--page); color: var(--text);
          font: 0.875rem/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
          font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
        }
        h1, h2, p, dl, dd, ul { margin: 0; padding: 0; }
        header, main { max-width: 90rem; margin: 0 auto; padding: 0 1.25rem; }
        header {
          display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1.25rem;
          padding-top: 0.75rem; padding-bottom: 0.75rem;
        }
        h1 { font-size: 0.9375rem; font-weight: 650; margin-right: auto; }
        h1 span { color: var(--muted); font-weight: 400; margin-left: 0.375rem; }
        h2 { font-size: 0.9375rem; font-weight: 650; }
        #clock { color: var(--muted); }
        .unseen {
          position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap;
        }
        .defs { position: absolute; width: 0; height: 0; }
        button, select {
          font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--muted);
          border-radius: 0.375rem; padding: 0.1875rem 0.75rem; min-height: 1.75rem;
        }
        button { cursor: pointer; }
        button:hover, select:hover { background: var(--raised); }
        button[aria-pressed="true"] {
          background: var(--text); color: var(--panel); border-color: var(--text);
        }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
        main { padding-bottom: 3rem; }
        section, #notice {
          background: var(--panel); border: 1px solid var(--line); border-radius: 0.5rem;
          margin-bottom: 0.875rem; padding: 0.75rem 1rem; min-width: 0;
        }
        #notice { border-left: 0.3125rem solid var(--warn); padding: 0.875rem 1rem; }
        #notice h2 { margin-bottom: 0.25rem; }
        #notice p { max-width: 46rem; }
        .pair { display: grid; gap: 0 0.875rem; grid-template-columns: minmax(0, 1fr); }
        @media (min-width: 75rem) {
          .pair { grid-template-columns: minmax(0, 2.15fr) minmax(0, 1fr); align-items: stretch; }
        }
        #health { padding: 1rem 1rem 0.875rem; border-left: 0.3125rem solid var(--good); }
        #health.trouble { border-left-color: var(--warn); }
        #health.stopped { border-left-color: var(--bad); }
        #sentence { font-size: 1.1875rem; line-height: 1.4; font-weight: 500; display: flex; }
        #mark { color: var(--good); flex: none; width: 1.75rem; }
        .trouble #mark { color: var(--warn); }
        .stopped #mark { color: var(--bad); }
        #figures {
          display: flex; flex-wrap: wrap; gap: 0.75rem 2.5rem; margin-top: 0.875rem; padding-top: 0.75rem;
          border-top: 1px solid var(--line);
        }
        #figures div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
        dt { color: var(--muted); font-size: 0.8125rem; }
        #figures dd { font-size: 1.25rem; line-height: 1.3; font-weight: 600; white-space: nowrap; }
        small { font-size: 0.8125rem; font-weight: 400; color: var(--muted); }
        #addresses small { display: block; line-height: 1.2; white-space: normal; }
        #figures .bad { color: var(--bad); }
        .box { overflow-x: auto; scrollbar-width: thin; position: relative; margin: 0.25rem -1rem 0; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; }
        caption {
          text-align: left; color: var(--muted); font-size: 0.8125rem; padding-bottom: 0.375rem;
          max-width: calc(100vw - 5rem);
        }
        th, td {
          text-align: left; font-weight: 400; padding: 0.25rem 0.875rem 0.25rem 0; white-space: nowrap;
          vertical-align: middle; border-bottom: 1px solid var(--line);
        }
        tbody > tr:last-child > * { border-bottom: 0; }
        thead th { color: var(--muted); font-size: 0.8125rem; vertical-align: bottom; }
        tbody th { font-weight: 600; max-width: 22rem; overflow: hidden; text-overflow: ellipsis; }
        .n { text-align: right; }
        th:last-child, td:last-child { padding-right: 0; }
        abbr { text-decoration: underline dotted; text-underline-offset: 0.1875rem; cursor: help; }
        .part { padding-left: 1.125rem; font-weight: 400; }
        .muted, .more, .idle { color: var(--muted); }
        .more { font-size: 0.8125rem; }
        .more:not(:empty) { padding-top: 0.375rem; }
        .good { color: var(--good); }
        .warn { color: var(--warn); }
        .bad { color: var(--bad); }
        .state { white-space: nowrap; }
        .meter { display: flex; align-items: center; gap: 0.5rem; }
        .meter svg { flex: none; }
        .meter span { min-width: 2.5rem; }
        svg { display: block; overflow: hidden; }
        svg.spark { overflow: visible; }
        .track { fill: var(--raised); }
        .area { fill: var(--server); opacity: 0.25; }
        .curve { fill: none; stroke: var(--body); stroke-width: 1.5; stroke-linejoin: round; }
        .fault { fill: var(--bad); }
        .cross { stroke: var(--bad); stroke-width: 2; fill: none; }
        .beyond { fill: var(--panel); }
        .arrow { stroke: var(--muted); stroke-width: 1.5; fill: none; }
        .level { fill: var(--body); }
        .level.low { fill: var(--bad); }
        .pale { opacity: 0.35; }
        .f-slot { fill: var(--slot); } .l-slot { stroke: var(--slot); stroke-width: 1.6; }
        .f-token { fill: var(--token); }
        .f-backoff { fill: var(--backoff); } .l-backoff { stroke: var(--backoff); stroke-width: 1.6; }
        .f-tls { fill: var(--tls); } .l-tls { stroke: var(--tls); stroke-width: 1.8; }
        .f-server { fill: var(--server); } .l-server { stroke: var(--server); stroke-width: 1.2; }
        .f-connect { fill: var(--connect); }
        .f-body { fill: var(--body); }
        .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 0.75rem; }
        .bar h2 { margin-right: 0.5rem; }
        .bar label { color: var(--muted); }
        .bar .check { display: flex; align-items: center; gap: 0.375rem; }
        .bar select { margin-left: -0.375rem; max-width: 14rem; }
        #newer { border-color: var(--link); color: var(--link); }
        #legend {
          list-style: none; display: flex; flex-wrap: wrap; gap: 0.125rem 0.875rem; margin-left: auto;
          font-size: 0.8125rem; color: var(--muted);
        }
        #legend li { display: flex; align-items: center; gap: 0.3125rem; }
        #loads > tbody > tr:not(.details) { cursor: pointer; }
        #loads > tbody > tr:not(.details):hover { background: var(--raised); }
        #loads > tbody > tr.failure { background: var(--bad-panel); }
        #loads > tbody > tr.new > * { animation: arrive 1.2s ease-out; }
        @keyframes arrive { from { background: var(--good-panel); } }
        #loads th button {
          border: 0; background: none; padding: 0 0.25rem 0 0; min-height: 1.5rem; font-weight: 400;
          font-variant-numeric: tabular-nums; display: flex; align-items: center;
          gap: 0.375rem;
        }
        #loads .feature { max-width: 10rem; overflow: hidden; text-overflow: ellipsis; }
        #loads .request { max-width: 20rem; overflow: hidden; text-overflow: ellipsis; }
        .wide { width: 24%; min-width: 13rem; }
        .scale { display: flex; justify-content: space-between; gap: 1rem; }
        .details td { white-space: normal; background: var(--page); padding: 0.625rem 0.75rem; }
        .details dl { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin-bottom: 0.625rem; }
        .details dl div { display: flex; gap: 0.375rem; }
        .details table { margin-top: 0.5rem; }
        .details th { font-weight: 400; }
        .details th, .details table td { background: none; padding: 0.1875rem 0.875rem 0.1875rem 0; }
        .details table td { white-space: nowrap; }
        @media (max-width: 40rem) {
          header, main { padding-left: 0.75rem; padding-right: 0.75rem; }
          h1 { flex-basis: 100%; }
          #freeze { margin-left: auto; }
          #sentence { font-size: 1.0625rem; }
          #legend { margin-left: 0; }
        }
        @media (prefers-reduced-motion: reduce) {
          *, *::before, *::after { animation: none !important; transition: none !important; }
        }
        """#
}
