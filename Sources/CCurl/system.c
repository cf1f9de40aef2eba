// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#define _GNU_SOURCE
#include "ccurl.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int ccurl_open_socket(const ccurl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void ccurl_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int ccurl_core_count(void) {
    cpu_set_t cores;
    // A machine with more cores than the set has refuses the question.
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int ccurl_unacknowledged(int socket) {
    int bytes = 0;
    return ioctl(socket, TIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

int ccurl_peer_state(int socket) {
    struct pollfd query = {.fd = socket, .events = POLLIN | POLLRDHUP};
    if (poll(&query, 1, 0) <= 0) return 0;
    return query.revents & (POLLRDHUP | POLLHUP | POLLERR) ? 2 : 1;
}

#else

// Nothing on other platforms; a translation unit must not be empty.
typedef int ccurl_no_system;

#endif
