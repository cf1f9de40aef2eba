// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "cloopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

int loopback_bind(uint16_t *port) {
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

int loopback_accepts(uint16_t port) {
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
    return result == 0;
}

// Answers what has arrived on a connection, a request of one piece; closes one that has ended.
static void answer(int fd, const char *response, size_t size) {
    char request[16384];
    ssize_t count = recv(fd, request, sizeof request, 0);
    if (count <= 0) {
        close(fd);
        return;
    }
    if (count < 4 || memcmp(request + count - 4, "\r\n\r\n", 4) != 0) return;
    if (send(fd, response, size, MSG_NOSIGNAL) != (ssize_t)size) close(fd);
}

static void accept_all(int epoll, int listener) {
    int one = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) close(fd);
}

void loopback_serve(const int *listeners, int count, const char *response, size_t size) {
    struct epoll_event events[256];
    const uint64_t is_listener = (uint64_t)1 << 32;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {
            .events = EPOLLIN, .data.u64 = is_listener | (uint64_t)listeners[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, listeners[i], &event) != 0) return;
    }
    for (;;) {
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            uint64_t tag = events[i].data.u64;
            if (tag & is_listener)
                accept_all(epoll, (int)(tag & 0xFFFFFFFF));
            else
                answer((int)tag, response, size);
        }
    }
}
