// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// The baseline: what libcurl costs with only a loop in C around it.

#ifndef CBARECURL_H
#define CBARECURL_H

typedef struct bare_client bare_client;

// A client with `concurrency` easy handles on one multi handle; null when libcurl is missing.
bare_client *bare_client_make(const char *url, const char *header, int concurrency);
// Loads the URL `requests` times, `concurrency` at once; returns the number of failed loads.
long bare_client_run(bare_client *client, long requests);
void bare_client_free(bare_client *client);

#endif
