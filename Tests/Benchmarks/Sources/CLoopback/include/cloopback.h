// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Ports of the loopback interface.

#ifndef CLOOPBACK_H
#define CLOOPBACK_H

#include <stddef.h>
#include <stdint.h>

// A socket that is bound to a free port, which is stored; -1 when there is none.
int loopback_bind(uint16_t *port);
// Whether a port accepts a connection now.
int loopback_accepts(uint16_t port);
// Answers every request that arrives at listening sockets with the same bytes, on the calling thread
// and for ever; returns only when that cannot begin.
void loopback_serve(const int *listeners, int count, const char *response, size_t size);

#endif
