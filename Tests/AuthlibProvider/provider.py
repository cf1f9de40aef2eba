# Copyright the DataLoading authors
# SPDX-License-Identifier: Apache-2.0
#
# Authlib's authorization server, with everything in memory.
# Serves on a free port of 127.0.0.1 and writes the port to the file in its only argument.

import os
import sys
import time

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import (
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from flask import Flask, jsonify
from werkzeug.serving import make_server

app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {
    "authorization_code": 3600,
    "refresh_token": 3600,
    "client_credentials": 3600,
    DeviceCodeGrant.GRANT_TYPE: 3600,
}

codes, tokens, devices = {}, [], {}
counts = {"refreshes": 0}


class Client(ClientMixin):
    def __init__(self, identifier, secret, redirect=None):
        self.client_id, self.secret, self.redirect = identifier, secret, redirect

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.redirect

    def get_allowed_scope(self, scope):
        return scope or ""

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == self.redirect

    def check_client_secret(self, client_secret):
        return self.secret is not None and client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method == ("none" if self.secret is None else "client_secret_basic")

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return True


clients = {
    "public": Client("public", None, "http://127.0.0.1:7777/callback"),
    "service": Client("service", "service-secret"),
}


class Code(AuthorizationCodeMixin):
    def __init__(self, code, request):
        payload = request.payload
        self.code, self.client_id = code, request.client.client_id
        self.redirect_uri, self.scope = payload.redirect_uri, payload.scope
        self.code_challenge = payload.data.get("code_challenge")
        self.code_challenge_method = payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, data, client, user):
        self.data, self.client, self.user = data, client, user
        self.issued, self.revoked = time.time(), False

    def check_client(self, client):
        return self.client is client

    def get_scope(self):
        return self.data.get("scope", "")

    def get_expires_in(self):
        return self.data["expires_in"]

    def is_expired(self):
        return self.issued + self.get_expires_in() < time.time()

    def is_revoked(self):
        return self.revoked

    def get_client(self):
        return self.client

    def get_user(self):
        return self.user


def find(name, value):
    return next((token for token in tokens if token.data.get(name) == value), None)


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return "ada"


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        found = find("refresh_token", refresh_token)
        return found if found and not found.revoked else None

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        counts["refreshes"] += 1
        refresh_token.revoked = True


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def query_device_credential(self, device_code):
        return devices.get(device_code)

    def query_user_grant(self, user_code):
        # The user enters the code before the second poll.
        asked = counts.get(user_code, 0)
        counts[user_code] = asked + 1
        return ("ada", True) if asked > 0 else None

    def should_slow_down(self, credential):
        return False


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]
    INTERVAL = 1

    def get_verification_uri(self):
        return "http://127.0.0.1/activate"

    def save_device_credential(self, client_id, scope, data):
        data = dict(data, client_id=client_id, scope=scope)
        data["expires_at"] = time.time() + data["expires_in"]
        devices[data["device_code"]] = DeviceCredentialDict(data)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]

    def query_token(self, token_string, token_type_hint):
        return find("refresh_token", token_string) or find("access_token", token_string)

    def revoke_token(self, token, request):
        token.revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return find("access_token", token_string)


server = AuthorizationServer(
    app,
    query_client=clients.get,
    save_token=lambda token, request: tokens.append(Token(token, request.client, request.user)),
)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
server.register_grant(grants.ClientCredentialsGrant)
server.register_grant(DeviceGrant)
server.register_endpoint(Revocation)
server.register_endpoint(DeviceEndpoint)
protector = ResourceProtector()
protector.register_token_validator(Validator())


@app.get("/authorize")
def authorize():
    grant = server.get_consent_grant(end_user="ada")
    return server.create_authorization_response(grant=grant, grant_user="ada")


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/device")
def device():
    return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/resource")
@protector()
def resource():
    return "for your eyes"


@app.post("/expire")
def expire():
    """For the tests: every access token that is out has expired."""
    for token in tokens:
        token.issued = 0
    return jsonify(counts)


if __name__ == "__main__":
    web = make_server("127.0.0.1", 0, app, threaded=True)
    with open(sys.argv[1] + ".part", "w") as file:
        file.write(str(web.port))
    os.rename(sys.argv[1] + ".part", sys.argv[1])
    web.serve_forever()
