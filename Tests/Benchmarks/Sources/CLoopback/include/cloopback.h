// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Ports of the loopback interface.

#ifndef CLOOPBACK_H
#define CLOOPBACK_H

#include <stdint.h>

// A socket that is bound to a free port, which is stored; -1 when there is none.
int loopback_bind(uint16_t *port);
// Whether a port accepts a connection now.
int loopback_accepts(uint16_t port);

#endif
