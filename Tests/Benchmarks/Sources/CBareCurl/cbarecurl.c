// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#include "cbarecurl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static size_t count_bytes(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    ((bare_client *)context)->received += (int64_t)(size * count);
    return size * count;
}

static CURL *make_easy(bare_client *client) {
    CURL *easy = curl_easy_init();
    if (!easy) return NULL;
    const bare_settings *settings = &client->settings;
    curl_easy_setopt(easy, OPT_PROXY, "");
    curl_easy_setopt(easy, OPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, OPT_CONNECT_TO, client->targets);
    curl_easy_setopt(easy, OPT_WRITEFUNCTION, count_bytes);
    curl_easy_setopt(easy, OPT_WRITEDATA, client);
    curl_easy_setopt(easy, OPT_HTTP_VERSION, (long)(settings->is_http2 ? HTTP_2_TLS : HTTP_1_1));
    if (settings->is_http2) curl_easy_setopt(easy, OPT_PIPEWAIT, 1L);
    if (settings->authorities) curl_easy_setopt(easy, OPT_CAINFO, settings->authorities);
    if (settings->is_tuned) {
        curl_easy_setopt(easy, OPT_NOPROXY, "*");
        curl_easy_setopt(easy, OPT_CAINFO, NULL);
        curl_easy_setopt(easy, OPT_CAPATH, NULL);
    }
    bare_sockets_prepare(client, easy);
    return easy;
}

bare_client *bare_client_make(const bare_settings *settings) {
    if (curl_global_init(3)) return NULL;
    bare_client *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->settings = *settings;
    if (settings->authorities) client->settings.authorities = strdup(settings->authorities);
    client->multi = curl_multi_init();
    client->easies = calloc((size_t)settings->concurrency, sizeof *client->easies);
    if (!client->multi || !client->easies || bare_sockets_open(client) != 0) return NULL;
    return client;
}

void bare_client_upload(bare_client *client, const char *file, int64_t size) {
    client->file = strdup(file);
    client->file_size = size;
}

// The handles are made when the requests are known; one request for all is set only once.
static int prepare(bare_client *client) {
    if (client->easies[0]) return 0;
    if (client->request_count == 0) return -1;
    // Requests in turn go to several origins, each of which keeps connections.
    int has_turns = client->request_count > 1;
    if (has_turns) client->targets = curl_slist_append(NULL, "::127.0.0.1:");
    // The limit counts the connections of held transfers too.
    long kept = client->settings.concurrency * (has_turns ? 8 : 1) + client->held_count;
    curl_multi_setopt(client->multi, MULTI_MAXCONNECTS, kept);
    for (int i = 0; i < client->settings.concurrency; i++) {
        CURL *easy = client->easies[i] = make_easy(client);
        if (!easy) return -1;
        bare_request_apply(client, easy, &client->requests[0]);
        FILE *file = client->file ? fopen(client->file, "rb") : NULL;
        if (client->file && !file) return -1;
        curl_easy_setopt(easy, OPT_READDATA, file);
        curl_easy_setopt(easy, OPT_PRIVATE, file);
    }
    return 0;
}

void bare_client_hold(bare_client *client, const char *url, int count) {
    client->held = calloc((size_t)count, sizeof *client->held);
    if (!client->held) return;
    for (; client->held_count < count; client->held_count++) {
        CURL *easy = client->held[client->held_count] = make_easy(client);
        if (!easy) return;
        curl_easy_setopt(easy, OPT_URL, url);
        curl_multi_add_handle(client->multi, easy);
    }
}

static void start(bare_client *client, CURL *easy) {
    if (client->request_count > 1) {
        long index = client->next_request++ % client->request_count;
        bare_request_apply(client, easy, &client->requests[index]);
    }
    if (client->file) {
        FILE *file = NULL;
        curl_easy_getinfo(easy, INFO_PRIVATE, &file);
        rewind(file);
    }
    curl_multi_add_handle(client->multi, easy);
}

long bare_client_run(bare_client *client, long requests) {
    if (prepare(client) != 0) return requests;
    long started = 0, ended = 0, failed = 0;
    for (; started < requests && started < client->settings.concurrency; started++)
        start(client, client->easies[started]);
    while (ended < requests) {
        bare_sockets_wait(client);
        int left = 0;
        for (CURLMsg *next; (next = curl_multi_info_read(client->multi, &left));) {
            if (next->kind != MESSAGE_DONE) continue;
            CURL *easy = next->easy;
            long status = 0;
            curl_easy_getinfo(easy, INFO_STATUS, &status);
            if (next->data.result != 0 || status != 200) failed++;
            ended++;
            curl_multi_remove_handle(client->multi, easy);
            if (started == requests) continue;
            start(client, easy);
            started++;
        }
    }
    return failed;
}

int64_t bare_client_received(const bare_client *client) {
    return client->received;
}

void bare_client_free(bare_client *client) {
    for (int i = 0; i < client->held_count; i++) {
        curl_multi_remove_handle(client->multi, client->held[i]);
        curl_easy_cleanup(client->held[i]);
    }
    for (int i = 0; i < client->settings.concurrency; i++) {
        CURL *easy = client->easies[i];
        if (!easy) continue;
        FILE *file = NULL;
        curl_easy_getinfo(easy, INFO_PRIVATE, &file);
        if (file) fclose(file);
        curl_easy_cleanup(easy);
    }
    curl_multi_cleanup(client->multi);
    bare_sockets_close(client);
    curl_slist_free_all(client->targets);
    for (int i = 0; i < client->request_count; i++) bare_request_free(&client->requests[i]);
    free(client->requests);
    free(client->easies);
    free(client->held);
    free(client->file);
    free((char *)client->settings.authorities);
    free(client);
}
