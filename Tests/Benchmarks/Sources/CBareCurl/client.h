// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// What the files of the client share.

#ifndef BARE_CLIENT_H
#define BARE_CLIENT_H

#include "cbarecurl.h"
#include "libcurl.h"

typedef struct {
    char *method;
    char *url;
    char *body;
    struct curl_slist *fields;
    CURLU *parsed;
} bare_request;

struct bare_client {
    bare_settings settings;
    CURLM *multi;
    CURL **easies;
    CURL **held;
    bare_request *requests;
    int request_count;
    int held_count;
    long next_request;
    struct curl_slist *targets;
    char *file;
    int64_t file_size;
    int epoll;
    unsigned char *watched;  // by descriptor: the events that epoll reports, for a tuned client
    unsigned char *wanted;   // by descriptor: the events that libcurl waits for
    int64_t deadline;        // in milliseconds, -1 for none
    int64_t received;
};

// sockets.c
int bare_sockets_open(bare_client *client);
void bare_sockets_prepare(bare_client *client, CURL *easy);
void bare_sockets_wait(bare_client *client);
void bare_sockets_close(bare_client *client);

// requests.c
void bare_request_apply(bare_client *client, CURL *easy, const bare_request *request);
void bare_request_free(bare_request *request);

#endif
