# Copyright the DataLoading authors
# SPDX-License-Identifier: Apache-2.0
"""A small authorization server for `fleet`: refresh tokens rotate, and one that comes twice is noticed."""

import base64
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TokenServer:
    """Issues tokens, and may kill the daemon that asks for one.

    A daemon can be killed before its refresh token is spent, or after that and before it hears of the
    next one: nobody knows that one then, and the spent one must come a second time. So it is with one
    that is stopped, which hears of it much later.
    """

    def __init__(self, lifetime):
        self.lifetime = lifetime
        self.lock = threading.Lock()
        self.current = "refresh-0"
        # The token that a killed daemon has spent, until it comes again.
        self.lost = None
        self.issued = -1e9
        self.refreshes = self.early = self.explained = self.loads = 0
        self.faults = []
        # What kills a daemon, and returns whether it will hear the answer: called with its place.
        self.kill = None
        self.spends = False
        handler = type("Handler", (Handler,), {"tokens": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kill_next(self, kill, spends):
        """Kills the next daemon that asks for a token."""
        with self.lock:
            self.kill, self.spends = kill, spends

    def take_kill(self):
        kill, self.kill = self.kill, None
        return kill

    def refresh(self, place, token):
        """Returns the fields of the answer; None where the daemon that asks was killed."""
        with self.lock:
            kill = self.take_kill()
            if kill and not self.spends:
                kill(place)
                return None
            if token == self.lost:
                self.explained += 1
            elif token != self.current:
                self.faults.append(f"{token} comes again, {self.current} is the newest")
                return {"error": "invalid_grant"}
            elif time.monotonic() - self.issued < 0.9 * self.lifetime - 0.1:
                self.early += 1
            self.lost = token if kill else None
            self.refreshes += 1
            self.issued = time.monotonic()
            self.current = f"refresh-{self.refreshes}"
            hears = kill(place) if kill else True
            return {
                "access_token": f"access-{self.refreshes}", "token_type": "Bearer",
                "expires_in": self.lifetime, "refresh_token": self.current,
            } if hears else None

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """/token: a daemon, whose password is its place, asks for a token."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = dict(urllib.parse.parse_qsl(body))
        login = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic "))
        place = int(login.decode().rsplit(":", 1)[1])
        answer = self.tokens.refresh(place, form.get("refresh_token"))
        if answer is None:
            self.close_connection = True
            return
        self.answer(400 if "error" in answer else 200, answer)

    def do_GET(self):
        """/resource: any token that was ever issued will do, as it may expire on its way."""
        token = self.headers.get("Authorization", "")
        self.tokens.loads += 1
        self.answer(200 if token.startswith("Bearer access-") else 401, {})

    def answer(self, status, fields):
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass
