// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The elements of the dashboard; the script fills them.
enum DashboardMarkup {
    /// What is between the style and the script.
    static let text = #"""
        <svg class="defs" aria-hidden="true" focusable="false">
          <defs>
            <pattern id="p-slot" width="6" height="6" patternUnits="userSpaceOnUse">
              <rect class="f-slot pale" width="6" height="6"/>
              <path class="l-slot" d="M-1 1l2-2M0 6l6-6M5 7l2-2"/></pattern>
            <pattern id="p-token" width="5" height="5" patternUnits="userSpaceOnUse">
              <rect class="f-token pale" width="5" height="5"/>
              <circle class="f-token" cx="2.5" cy="2.5" r="1.4"/></pattern>
            <pattern id="p-backoff" width="4" height="4" patternUnits="userSpaceOnUse">
              <rect class="f-backoff pale" width="4" height="4"/>
              <path class="l-backoff" d="M1 0v4"/></pattern>
            <pattern id="p-tls" width="4" height="4" patternUnits="userSpaceOnUse">
              <rect class="f-tls pale" width="4" height="4"/>
              <path class="l-tls" d="M0 1h4"/></pattern>
            <pattern id="p-server" width="6" height="6" patternUnits="userSpaceOnUse">
              <rect class="f-server pale" width="6" height="6"/>
              <path class="l-server" d="M-1 5l2 2M0 0l6 6M5-1l2 2"/></pattern>
          </defs>
        </svg>
        <header>
          <h1>DataLoading <span id="host"></span></h1>
          <p id="clock"></p>
          <p id="link" class="state idle">○ Connecting</p>
          <button id="freeze" type="button" aria-pressed="false">Freeze</button>
        </header>
        <p id="announcement" class="unseen" role="status" aria-live="polite"></p>
        <main>
          <noscript><p>This page needs JavaScript: the figures come from the daemon once a second.</p></noscript>
          <div id="notice" hidden>
            <h2 id="notice-title"></h2>
            <p id="notice-text"></p>
          </div>
          <div id="data" hidden>
            <section id="health" aria-labelledby="health-title">
              <h2 id="health-title" class="unseen">Health</h2>
              <p id="sentence"><span id="mark" aria-hidden="true"></span><span id="words"></span></p>
              <dl id="figures"></dl>
            </section>
            <section aria-labelledby="features-title">
              <h2 id="features-title">Features</h2>
              <div class="box">
                <table id="features">
                  <caption>Loads by source identifier: rates over 10 seconds, success, times and waits over the
                    last minute</caption>
                  <thead><tr>
                      <th scope="col">Feature</th>
                      <th scope="col" class="n">Loads/s</th>
                      <th scope="col" class="n">Success</th>
                      <th scope="col" class="n"><abbr title="Half of the loads took less">p50</abbr></th>
                      <th scope="col" class="n"><abbr title="99 of 100 loads took less">p99</abbr></th>
                      <th scope="col">Time spent waiting</th>
                      <th scope="col">Bytes/s over 10 minutes</th>
                      <th scope="col">Last error</th>
                    </tr></thead>
                  <tbody></tbody>
                </table>
              </div>
              <p class="more" id="features-more"></p>
            </section>
            <div class="pair">
              <section aria-labelledby="rules-title">
                <h2 id="rules-title">Hosts and rules</h2>
                <div class="box">
                  <table id="rules">
                    <caption>Requests/s, set and kept over 10 s</caption>
                    <thead><tr>
                        <th scope="col">Host or path</th>
                        <th scope="col">State</th>
                        <th scope="col" class="n">Set</th>
                        <th scope="col" class="n">Kept</th>
                        <th scope="col" class="n">Queue</th>
                        <th scope="col" class="n">Running</th>
                        <th scope="col">Retry budget</th>
                        <th scope="col" class="n"><abbr title="How often a Retry-After closed it">Closed</abbr></th>
                      </tr></thead>
                    <tbody></tbody>
                  </table>
                </div>
                <p class="more" id="rules-more"></p>
              </section>
              <section aria-labelledby="addresses-title">
                <h2 id="addresses-title">Addresses</h2>
                <div class="box">
                  <table id="addresses">
                    <caption>Fallbacks, and why they last failed</caption>
                    <thead><tr>
                        <th scope="col">Address, host</th>
                        <th scope="col">State</th>
                      </tr></thead>
                    <tbody></tbody>
                  </table>
                </div>
                <p class="more" id="addresses-more"></p>
              </section>
            </div>
            <section id="credentials-section" aria-labelledby="credentials-title" hidden>
              <h2 id="credentials-title">Credentials</h2>
              <div class="box">
                <table id="credentials">
                  <caption>No token is shown</caption>
                  <thead><tr>
                      <th scope="col">Authoriser</th>
                      <th scope="col">State</th>
                      <th scope="col" class="n">Waiting</th>
                      <th scope="col" class="n">Fetched</th>
                      <th scope="col" class="n">Failed</th>
                    </tr></thead>
                  <tbody></tbody>
                </table>
              </div>
            </section>
            <section aria-labelledby="loads-title">
              <div class="bar">
                <h2 id="loads-title">Recent loads</h2>
                <label for="feature">Feature</label>
                <select id="feature"><option value="">All</option></select>
                <label class="check"><input id="failures" type="checkbox"> Failures only</label>
                <button id="newer" type="button" hidden></button>
                <ul id="legend" aria-label="Parts of a load"></ul>
              </div>
              <div class="box">
                <table id="loads">
                  <caption>The last 100 loads, newest first. Enter opens a load, arrow keys move between
                    loads; while one is open or in focus, newer loads wait.</caption>
                  <thead><tr>
                      <th scope="col">Ended, UTC</th>
                      <th scope="col">Feature</th>
                      <th scope="col">Request</th>
                      <th scope="col">Result</th>
                      <th scope="col" class="n">Tries</th>
                      <th scope="col" class="n">Bytes</th>
                      <th scope="col" class="n">Took</th>
                      <th scope="col" class="wide"><span class="scale"><span>Waterfall</span>
                          <span id="scale"></span></span></th>
                    </tr></thead>
                  <tbody></tbody>
                </table>
              </div>
              <p class="more" id="loads-more"></p>
            </section>
          </div>
        </main>
        """#
}
