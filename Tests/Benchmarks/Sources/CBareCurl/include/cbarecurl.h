// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// The baseline: what libcurl costs with only a loop in C around it.

#ifndef CBARECURL_H
#define CBARECURL_H

#include <stdint.h>

typedef struct bare_client bare_client;

typedef struct {
    // The number of easy handles on the one multi handle.
    int concurrency;
    // Whether sockets stay registered with epoll between transfers, the URL is parsed once, and
    // neither the environment's proxies nor the files of authorities are looked for.
    int is_tuned;
    // Whether HTTP/2 is asked for over TLS, where transfers wait for a connection that they can share.
    int is_http2;
    // The file with the certificate authorities in PEM form; null for the system's.
    const char *authorities;
} bare_settings;

// A client without requests; null when libcurl is missing.
bare_client *bare_client_make(const bare_settings *settings);
// Adds a request; its fields are separated by line feeds, and its body is null for none. Several
// requests are sent in turn, to the host 127.0.0.1 whatever their URLs name.
void bare_client_add(bare_client *client, const char *method, const char *url, const char *fields,
                     const char *body);
// Uploads a file with every request, from its beginning.
void bare_client_upload(bare_client *client, const char *file, int64_t size);
// Starts so many transfers that nothing waits for.
void bare_client_hold(bare_client *client, const char *url, int count);
// Sends so many requests and returns the number of failed ones.
long bare_client_run(bare_client *client, long requests);
// The bytes of bodies received so far.
int64_t bare_client_received(const bare_client *client);
void bare_client_free(bare_client *client);

#endif
