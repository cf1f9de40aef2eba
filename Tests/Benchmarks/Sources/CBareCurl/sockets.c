// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { MAX_SOCKETS = 65536 };

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void change(bare_client *client, int socket, int operation, int what) {
    struct epoll_event event = {
        .events = (what & POLL_IN ? EPOLLIN : 0) | (what & POLL_OUT ? EPOLLOUT : 0),
        .data.fd = socket,
    };
    if (epoll_ctl(client->epoll, operation, socket, &event) != 0 && operation == EPOLL_CTL_MOD)
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, socket, &event);
}

// As in libcurl's own example for epoll: one system call for each change that it requests.
static int watch(CURL *easy, int socket, int what, void *context, void *known) {
    (void)easy;
    (void)known;
    bare_client *client = context;
    change(client, socket, what == POLL_REMOVE ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, what);
    return 0;
}

// A socket that is idle between two transfers stays registered: it will be read again soon.
static int watch_lazily(CURL *easy, int socket, int what, void *context, void *known) {
    if (socket >= MAX_SOCKETS) return watch(easy, socket, what, context, known);
    bare_client *client = context;
    client->wanted[socket] = what == POLL_REMOVE ? 0 : (unsigned char)what;
    if (what == POLL_REMOVE || client->watched[socket] == what) return 0;
    change(client, socket, client->watched[socket] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, what);
    client->watched[socket] = (unsigned char)what;
    return 0;
}

// epoll forgets a closed socket, and its number may come back.
static int close_watched(void *context, int socket) {
    bare_client *client = context;
    if (socket < MAX_SOCKETS) client->watched[socket] = client->wanted[socket] = 0;
    return close(socket);
}

static int set_timer(CURLM *multi, long delay, void *context) {
    (void)multi;
    ((bare_client *)context)->deadline = delay < 0 ? -1 : milliseconds() + delay;
    return 0;
}

int bare_sockets_open(bare_client *client) {
    int is_tuned = client->settings.is_tuned;
    client->deadline = -1;
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->watched = calloc(MAX_SOCKETS, 1);
    client->wanted = calloc(MAX_SOCKETS, 1);
    if (client->epoll < 0 || !client->watched || !client->wanted) return -1;
    curl_multi_setopt(client->multi, MULTI_SOCKETFUNCTION, is_tuned ? watch_lazily : watch);
    curl_multi_setopt(client->multi, MULTI_SOCKETDATA, client);
    curl_multi_setopt(client->multi, MULTI_TIMERFUNCTION, set_timer);
    curl_multi_setopt(client->multi, MULTI_TIMERDATA, client);
    return 0;
}

void bare_sockets_prepare(bare_client *client, CURL *easy) {
    if (!client->settings.is_tuned) return;
    curl_easy_setopt(easy, OPT_CLOSESOCKETFUNCTION, close_watched);
    curl_easy_setopt(easy, OPT_CLOSESOCKETDATA, client);
}

static void act(bare_client *client, const struct epoll_event *event) {
    int running = 0;
    int socket = event->data.fd;
    if (client->settings.is_tuned && socket < MAX_SOCKETS && !client->wanted[socket]) {
        // An idle connection has ended or speaks up: libcurl looks at it before it uses it again.
        change(client, socket, EPOLL_CTL_DEL, 0);
        client->watched[socket] = 0;
        return;
    }
    int signals = (event->events & (EPOLLIN | EPOLLHUP) ? EVENT_IN : 0) |
                  (event->events & EPOLLOUT ? EVENT_OUT : 0) |
                  (event->events & EPOLLERR ? EVENT_ERR : 0);
    curl_multi_socket_action(client->multi, socket, signals, &running);
}

void bare_sockets_wait(bare_client *client) {
    struct epoll_event events[256];
    int running = 0;
    int timeout = -1;
    if (client->deadline >= 0) {
        int64_t left = client->deadline - milliseconds();
        timeout = left < 0 ? 0 : (int)left;
    }
    int count = epoll_wait(client->epoll, events, 256, timeout);
    for (int i = 0; i < count; i++) act(client, &events[i]);
    if (client->deadline >= 0 && client->deadline <= milliseconds()) {
        client->deadline = -1;
        curl_multi_socket_action(client->multi, SOCKET_TIMEOUT, 0, &running);
    }
}

void bare_sockets_close(bare_client *client) {
    close(client->epoll);
    free(client->watched);
    free(client->wanted);
}
