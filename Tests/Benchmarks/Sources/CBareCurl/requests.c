// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

void bare_client_add(bare_client *client, const char *method, const char *url, const char *fields,
                     const char *body) {
    size_t size = (size_t)(client->request_count + 1) * sizeof *client->requests;
    bare_request *requests = realloc(client->requests, size);
    if (!requests) return;
    client->requests = requests;
    bare_request *request = &requests[client->request_count++];
    *request = (bare_request){.method = strdup(method), .url = strdup(url)};
    if (body) request->body = strdup(body);
    char *lines = strdup(fields);
    char *rest = lines;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) request->fields = curl_slist_append(request->fields, line);
    free(lines);
    if (!client->settings.is_tuned) return;
    request->parsed = curl_url();
    curl_url_set(request->parsed, URL_WHOLE, url, 0);
}

// Every option that two requests may differ in.
void bare_request_apply(bare_client *client, CURL *easy, const bare_request *request) {
    if (request->parsed)
        curl_easy_setopt(easy, OPT_CURLU, request->parsed);
    else
        curl_easy_setopt(easy, OPT_URL, request->url);
    curl_easy_setopt(easy, OPT_HTTPHEADER, request->fields);
    curl_easy_setopt(easy, OPT_HTTPGET, 1L);
    if (client->file) {
        curl_easy_setopt(easy, OPT_UPLOAD, 1L);
        curl_easy_setopt(easy, OPT_INFILESIZE_LARGE, client->file_size);
    } else if (strcmp(request->method, "HEAD") == 0) {
        curl_easy_setopt(easy, OPT_NOBODY, 1L);
    } else if (request->body) {
        curl_easy_setopt(easy, OPT_POSTFIELDS, request->body);
        curl_easy_setopt(easy, OPT_POSTFIELDSIZE, (long)strlen(request->body));
    }
}

void bare_request_free(bare_request *request) {
    free(request->method);
    free(request->url);
    free(request->body);
    curl_slist_free_all(request->fields);
    if (request->parsed) curl_url_cleanup(request->parsed);
}
