// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "cbareepoll.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 65536 };

typedef struct {
    int socket;
    size_t filled;
    char *buffer;
} connection;

struct epoll_client {
    int epoll;
    int concurrency;
    char *request;
    size_t request_size;
    connection *connections;
};

static int open_connection(epoll_client *client, uint16_t port, connection *connection) {
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int one = 1;
    int fd = connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connection->buffer = malloc(BUFFER);
    if (fd < 0 || !connection->buffer) return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    return epoll_ctl(client->epoll, EPOLL_CTL_ADD, fd, &event);
}

epoll_client *epoll_client_make(uint16_t port, const char *request, int concurrency) {
    epoll_client *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->concurrency = concurrency;
    client->request = strdup(request);
    client->request_size = strlen(request);
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->connections = calloc((size_t)concurrency, sizeof *client->connections);
    if (client->epoll < 0 || !client->connections) return NULL;
    for (int i = 0; i < concurrency; i++)
        if (open_connection(client, port, &client->connections[i]) != 0) return NULL;
    return client;
}

// The size of the whole response, 0 while its head is incomplete, -1 when it is no answer of 200.
static long response_size(const connection *connection) {
    const char *start = connection->buffer;
    const char *end = memmem(start, connection->filled, "\r\n\r\n", 4);
    if (!end) return connection->filled == BUFFER ? -1 : 0;
    if (strncmp(start, "HTTP/1.1 200 ", 13) != 0) return -1;
    for (const char *line = start; line < end; line++) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (!line) break;
        if (strncasecmp(line + 1, "content-length:", 15) == 0)
            return end + 4 - start + atol(line + 16);
    }
    return -1;
}

static int send_request(const epoll_client *client, const connection *connection) {
    ssize_t sent = send(connection->socket, client->request, client->request_size, MSG_NOSIGNAL);
    return sent == (ssize_t)client->request_size ? 0 : -1;
}

// Returns 1 when a response has ended, 0 when more is to come, -1 when it is broken.
static int receive(connection *connection) {
    ssize_t count = recv(connection->socket, connection->buffer + connection->filled,
                         BUFFER - connection->filled, 0);
    if (count <= 0) return -1;
    connection->filled += (size_t)count;
    long size = response_size(connection);
    if (size < 0 || size > BUFFER) return -1;
    if (size == 0 || (size_t)size > connection->filled) return 0;
    connection->filled = 0;
    return 1;
}

long epoll_client_run(epoll_client *client, long requests) {
    struct epoll_event events[256];
    long started = 0, ended = 0;
    for (; started < requests && started < client->concurrency; started++)
        if (send_request(client, &client->connections[started]) != 0) return requests;
    while (ended < requests) {
        int count = epoll_wait(client->epoll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            connection *connection = events[i].data.ptr;
            int result = receive(connection);
            // A connection that fails is not opened again: the round does not count.
            if (result < 0) return requests - ended;
            if (result == 0) continue;
            ended++;
            if (started == requests) continue;
            if (send_request(client, connection) != 0) return requests - ended;
            started++;
        }
    }
    return 0;
}

void epoll_client_free(epoll_client *client) {
    for (int i = 0; i < client->concurrency; i++) {
        close(client->connections[i].socket);
        free(client->connections[i].buffer);
    }
    close(client->epoll);
    free(client->connections);
    free(client->request);
    free(client);
}
