// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#include "cbarecurl.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

// libcurl's prototypes and constants from its stable binary interface; no header is needed.
typedef struct CURL CURL;
typedef struct CURLM CURLM;
struct curl_slist;
typedef struct {
    int kind;
    CURL *easy;
    union {
        void *whatever;
        int result;
    } data;
} CURLMsg;

extern int curl_global_init(long flags);
extern CURL *curl_easy_init(void);
extern void curl_easy_cleanup(CURL *easy);
extern int curl_easy_setopt(CURL *easy, int option, ...);
extern int curl_easy_getinfo(CURL *easy, int info, ...);
extern struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
extern void curl_slist_free_all(struct curl_slist *list);
extern CURLM *curl_multi_init(void);
extern int curl_multi_cleanup(CURLM *multi);
extern int curl_multi_add_handle(CURLM *multi, CURL *easy);
extern int curl_multi_remove_handle(CURLM *multi, CURL *easy);
extern int curl_multi_socket_action(CURLM *multi, int socket, int events, int *running);
extern CURLMsg *curl_multi_info_read(CURLM *multi, int *left);
extern int curl_multi_setopt(CURLM *multi, int option, ...);

enum { OPT_WRITEDATA = 10001, OPT_URL = 10002, OPT_PROXY = 10004, OPT_HTTPHEADER = 10023,
       OPT_WRITEFUNCTION = 20011, OPT_NOSIGNAL = 99 };
enum { INFO_STATUS = 0x200002 };
enum { MULTI_SOCKETFUNCTION = 20001, MULTI_SOCKETDATA = 10002, MULTI_MAXCONNECTS = 6,
       MULTI_TIMERFUNCTION = 20004, MULTI_TIMERDATA = 10005 };
enum { POLL_IN = 1, POLL_OUT = 2, POLL_REMOVE = 4, EVENT_IN = 1, EVENT_OUT = 2, EVENT_ERR = 4 };
enum { SOCKET_TIMEOUT = -1, MESSAGE_DONE = 1 };

struct bare_client {
    CURLM *multi;
    CURL **easies;
    struct curl_slist *headers;
    int concurrency;
    int epoll;
    int64_t deadline;  // in milliseconds, -1 for none
    int64_t received;
};

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static size_t count_bytes(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    ((bare_client *)context)->received += (int64_t)(size * count);
    return size * count;
}

// As in libcurl's own example for epoll: one system call for each change that it requests.
static int watch(CURL *easy, int socket, int what, void *context, void *known) {
    (void)easy;
    bare_client *client = context;
    if (what == POLL_REMOVE) {
        epoll_ctl(client->epoll, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    (void)known;
    struct epoll_event event = {
        .events = (what & POLL_IN ? EPOLLIN : 0) | (what & POLL_OUT ? EPOLLOUT : 0),
        .data.fd = socket,
    };
    if (epoll_ctl(client->epoll, EPOLL_CTL_MOD, socket, &event) != 0)
        epoll_ctl(client->epoll, EPOLL_CTL_ADD, socket, &event);
    return 0;
}

static int set_timer(CURLM *multi, long delay, void *context) {
    (void)multi;
    ((bare_client *)context)->deadline = delay < 0 ? -1 : milliseconds() + delay;
    return 0;
}

bare_client *bare_client_make(const char *url, const char *header, int concurrency) {
    if (curl_global_init(3)) return NULL;
    bare_client *client = calloc(1, sizeof *client);
    client->concurrency = concurrency;
    client->deadline = -1;
    client->epoll = epoll_create1(EPOLL_CLOEXEC);
    client->multi = curl_multi_init();
    client->easies = calloc((size_t)concurrency, sizeof *client->easies);
    client->headers = curl_slist_append(NULL, header);
    if (client->epoll < 0 || !client->multi) return NULL;
    curl_multi_setopt(client->multi, MULTI_SOCKETFUNCTION, watch);
    curl_multi_setopt(client->multi, MULTI_SOCKETDATA, client);
    curl_multi_setopt(client->multi, MULTI_TIMERFUNCTION, set_timer);
    curl_multi_setopt(client->multi, MULTI_TIMERDATA, client);
    curl_multi_setopt(client->multi, MULTI_MAXCONNECTS, (long)concurrency);
    for (int i = 0; i < concurrency; i++) {
        CURL *easy = client->easies[i] = curl_easy_init();
        if (!easy) return NULL;
        curl_easy_setopt(easy, OPT_URL, url);
        curl_easy_setopt(easy, OPT_PROXY, "");
        curl_easy_setopt(easy, OPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, OPT_HTTPHEADER, client->headers);
        curl_easy_setopt(easy, OPT_WRITEFUNCTION, count_bytes);
        curl_easy_setopt(easy, OPT_WRITEDATA, client);
    }
    return client;
}

static void wait_for_events(bare_client *client) {
    struct epoll_event events[256];
    int running = 0;
    int timeout = -1;
    if (client->deadline >= 0) {
        int64_t left = client->deadline - milliseconds();
        timeout = left < 0 ? 0 : (int)left;
    }
    int count = epoll_wait(client->epoll, events, 256, timeout);
    for (int i = 0; i < count; i++) {
        int signals = (events[i].events & (EPOLLIN | EPOLLHUP) ? EVENT_IN : 0) |
                      (events[i].events & EPOLLOUT ? EVENT_OUT : 0) |
                      (events[i].events & EPOLLERR ? EVENT_ERR : 0);
        curl_multi_socket_action(client->multi, events[i].data.fd, signals, &running);
    }
    if (client->deadline >= 0 && client->deadline <= milliseconds()) {
        client->deadline = -1;
        curl_multi_socket_action(client->multi, SOCKET_TIMEOUT, 0, &running);
    }
}

long bare_client_run(bare_client *client, long requests) {
    long started = 0, ended = 0, failed = 0;
    for (; started < requests && started < client->concurrency; started++)
        curl_multi_add_handle(client->multi, client->easies[started]);
    while (ended < requests) {
        wait_for_events(client);
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
            curl_multi_add_handle(client->multi, easy);
            started++;
        }
    }
    return failed;
}

void bare_client_free(bare_client *client) {
    for (int i = 0; i < client->concurrency; i++) curl_easy_cleanup(client->easies[i]);
    curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->headers);
    close(client->epoll);
    free(client->easies);
    free(client);
}
