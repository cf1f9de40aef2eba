// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// libcurl's prototypes and constants from its stable binary interface; no header of it is needed.

#ifndef BARE_LIBCURL_H
#define BARE_LIBCURL_H

#include <stddef.h>

typedef struct CURL CURL;
typedef struct CURLM CURLM;
typedef struct CURLU CURLU;
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
extern CURLU *curl_url(void);
extern int curl_url_set(CURLU *url, int part, const char *text, unsigned flags);
extern void curl_url_cleanup(CURLU *url);

enum { OPT_WRITEDATA = 10001, OPT_URL = 10002, OPT_PROXY = 10004, OPT_READDATA = 10009,
       OPT_POSTFIELDS = 10015, OPT_HTTPHEADER = 10023, OPT_CAINFO = 10065, OPT_CAPATH = 10097,
       OPT_PRIVATE = 10103, OPT_NOPROXY = 10177, OPT_CONNECT_TO = 10243, OPT_CURLU = 10282,
       OPT_CLOSESOCKETDATA = 10209 };
enum { OPT_WRITEFUNCTION = 20011, OPT_CLOSESOCKETFUNCTION = 20208 };
enum { OPT_NOBODY = 44, OPT_UPLOAD = 46, OPT_POST = 47, OPT_POSTFIELDSIZE = 60, OPT_HTTPGET = 80,
       OPT_HTTP_VERSION = 84, OPT_NOSIGNAL = 99, OPT_PIPEWAIT = 237 };
enum { OPT_INFILESIZE_LARGE = 30115 };
enum { INFO_STATUS = 0x200002, INFO_PRIVATE = 0x100015 };
enum { HTTP_1_1 = 2, HTTP_2_TLS = 4 };
enum { URL_WHOLE = 0 };
enum { MULTI_SOCKETFUNCTION = 20001, MULTI_SOCKETDATA = 10002, MULTI_MAXCONNECTS = 6,
       MULTI_TIMERFUNCTION = 20004, MULTI_TIMERDATA = 10005 };
enum { POLL_IN = 1, POLL_OUT = 2, POLL_REMOVE = 4, EVENT_IN = 1, EVENT_OUT = 2, EVENT_ERR = 4 };
enum { SOCKET_TIMEOUT = -1, MESSAGE_DONE = 1 };

#endif
