// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What `--help` shows.
enum Usage {
    static let text = """
        FeedDaemon loads feeds at limited rates, and reports what its loads cost.

        usage: FeedDaemon [--duration SECONDS] [--config FILE] [--operations]
                          [--fleet URL [--members N] [--fleet-user NAME]
                           [--fleet-password-file FILE]] [--json | --quiet]
               FeedDaemon --origin [--duration SECONDS]

          --duration SECONDS  how long to run at most
          --config FILE       load what a JSON file describes, not the embedded origin's feeds
          --operations        keep metrics, tell systemd, read the file again on SIGHUP, and run
                              until a signal
          --fleet URL         share all rates with the daemons that name the same Redis or Valkey:
                              redis://host:port, rediss://host:port or unix:///path
          --members N         how many daemons share, until Redis tells; 2 if it is not given
          --fleet-user NAME   the user of that server; its default user if it is not given
          --fleet-password-file FILE
                              read the password for that server from the file's first line
          --origin            be an origin for other daemons, and report how fast loads arrive
          --json              log loads on standard error as JSON, not as text
          --quiet             do not log loads
          --help              print this text

        Without a file it starts an origin of its own on the loopback interface, which revokes a
        token, answers 429 and 503, breaks a download off and goes down while the daemon runs; the
        run ends by itself. With a file it runs until SIGINT or SIGTERM, which end it within a
        second. Exit status: 0, or 2 for an error in the arguments or the file.

        A file:

          {
              "features": [
                  {"name": "news", "urls": ["https://example.com/news"], "interval": 5},
                  {"name": "events", "urls": ["https://example.com/live"], "interval": 1,
                   "mode": "chunks", "authorised": true},
                  {"name": "archive", "urls": ["https://example.com/all.tar"], "interval": 3600,
                   "file": "/var/tmp/all.tar"}
              ],
              "rates": {"default": 10, "urls": {"https://example.com/news": 0.5}},
              "addresses": {"example.com": ["203.0.113.7", "backup.example.com:8443"]},
              "token": {"environment": "FEED_TOKEN", "hosts": ["example.com"]},
              "timeouts": {"connect": 5, "idle": 15, "total": 30},
              "retries": 3
          }

        Times are in seconds, rates in requests per second. "mode" is "whole" or "chunks"; a "file"
        takes the place of a mode. Required are "features" and its "name", "urls" and "interval".
        A token has one of "environment", "value", and "credential": a name of LoadCredential= in
        systemd's unit. SIGHUP replaces rates, addresses and the token; a file with an error changes
        nothing.
        """
}
