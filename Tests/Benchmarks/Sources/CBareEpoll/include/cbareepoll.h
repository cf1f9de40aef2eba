// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// The distance to the limit: GETs on kept HTTP/1.1 connections, as cheap as epoll and C can be.

#ifndef CBAREEPOLL_H
#define CBAREEPOLL_H

#include <stdint.h>

typedef struct epoll_client epoll_client;

// A client with so many connections to a port of 127.0.0.1; null when one is refused.
epoll_client *epoll_client_make(uint16_t port, const char *request, int concurrency);
// Sends the request so many times and returns the number of failed responses.
long epoll_client_run(epoll_client *client, long requests);
void epoll_client_free(epoll_client *client);

#endif
