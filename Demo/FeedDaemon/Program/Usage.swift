// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What `--help` shows.
enum Usage {
    static let text = """
        FeedDaemon loads feeds politely, for as long as it runs, and says what that cost.

        usage: FeedDaemon [--duration SECONDS] [--config FILE] [--log | --log-json]

          --duration SECONDS  how long to run; default 10
          --config FILE       load what a JSON file describes, not the embedded origin's feeds
          --log               a line for each load on standard error
          --log-json          the same as JSON
          --help              this text

        Without a file it starts an origin of its own on the loopback interface, which dies, comes
        back, revokes a token and asks for mercy while the daemon runs. SIGINT and SIGTERM end it in
        order, within a second. Exit status: 0, or 2 for a mistake in the arguments or the file.

        A file:

          {
              "features": [
                  {"name": "news", "urls": ["https://example.com/news"], "interval": 5},
                  {"name": "events", "urls": ["https://example.com/live"], "interval": 1,
                   "mode": "chunks", "authorised": true}
              ],
              "rates": {"default": 10, "urls": {"https://example.com/news": 0.5}},
              "addresses": {"example.com": ["203.0.113.7", "backup.example.com:8443"]},
              "token": {"environment": "FEED_TOKEN", "hosts": ["example.com"]},
              "timeouts": {"connect": 5, "idle": 15, "total": 30},
              "retries": 3
          }

        Times are seconds, rates requests per second. "mode" is "whole" or "chunks". Only "features"
        is needed, and in it "name", "urls" and "interval".
        """
}
