// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#define _GNU_SOURCE
#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

// CURLMsg
typedef struct {
    int kind;
    ccurl_easy *easy;
    union {
        void *whatever;
        int result;
    } data;
} message;

// The head of curl_version_info_data, unchanged since its first age.
typedef struct {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
    const char *ssl_version;
} version_info;

static struct {
    int (*global_init)(long);
    version_info *(*version_info)(int);
    ccurl_easy *(*easy_init)(void);
    void (*easy_reset)(ccurl_easy *);
    void (*easy_cleanup)(ccurl_easy *);
    int (*easy_pause)(ccurl_easy *, int);
    int (*easy_perform)(ccurl_easy *);
    int (*easy_send)(ccurl_easy *, const void *, size_t, size_t *);
    int (*easy_recv)(ccurl_easy *, void *, size_t, size_t *);
    int (*easy_setopt)(ccurl_easy *, int, ...);
    int (*easy_getinfo)(ccurl_easy *, int, ...);
    ccurl_multi *(*multi_init)(void);
    int (*multi_cleanup)(ccurl_multi *);
    int (*multi_add_handle)(ccurl_multi *, ccurl_easy *);
    int (*multi_remove_handle)(ccurl_multi *, ccurl_easy *);
    int (*multi_socket_action)(ccurl_multi *, int, int, int *);
    message *(*multi_info_read)(ccurl_multi *, int *);
    int (*multi_setopt)(ccurl_multi *, int, ...);
    ccurl_url *(*url_init)(void);
    void (*url_cleanup)(ccurl_url *);
    int (*url_set)(ccurl_url *, int, const char *, unsigned int);
} curl;

// curl_tlssessioninfo
typedef struct {
    int backend;
    void *internals;
} tls_session;

typedef void (*tls_message)(int, int, int, const void *, size_t, void *, void *);

static struct {
    void (*set_msg_callback)(void *, tls_message);
    long (*ctrl)(void *, int, long, void *);
    void (*get0_alpn_selected)(const void *, const unsigned char **, unsigned int *);
} ssl;

static const char *load_error = "libcurl was not loaded";
static _Atomic int forks;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }

static int find(void *library) {
    struct {
        const char *name;
        void **place;
    } symbols[] = {
        {"curl_global_init", (void **)&curl.global_init},
        {"curl_version_info", (void **)&curl.version_info},
        {"curl_easy_init", (void **)&curl.easy_init},
        {"curl_easy_reset", (void **)&curl.easy_reset},
        {"curl_easy_cleanup", (void **)&curl.easy_cleanup},
        {"curl_easy_pause", (void **)&curl.easy_pause},
        {"curl_easy_perform", (void **)&curl.easy_perform},
        {"curl_easy_send", (void **)&curl.easy_send},
        {"curl_easy_recv", (void **)&curl.easy_recv},
        {"curl_easy_setopt", (void **)&curl.easy_setopt},
        {"curl_easy_getinfo", (void **)&curl.easy_getinfo},
        {"curl_multi_init", (void **)&curl.multi_init},
        {"curl_multi_cleanup", (void **)&curl.multi_cleanup},
        {"curl_multi_add_handle", (void **)&curl.multi_add_handle},
        {"curl_multi_remove_handle", (void **)&curl.multi_remove_handle},
        {"curl_multi_socket_action", (void **)&curl.multi_socket_action},
        {"curl_multi_info_read", (void **)&curl.multi_info_read},
        {"curl_multi_setopt", (void **)&curl.multi_setopt},
        {"curl_url", (void **)&curl.url_init},
        {"curl_url_cleanup", (void **)&curl.url_cleanup},
        {"curl_url_set", (void **)&curl.url_set},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].place = dlsym(library, symbols[i].name);
        if (!*symbols[i].place) {
            load_error = "libcurl lacks a function that the transport calls";
            return -1;
        }
    }
    return 0;
}

int ccurl_load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        load_error = "libcurl.so.4 is not installed";
        return -1;
    }
    if (find(library)) return -1;
    // OPENSSL_INIT_NO_ATEXIT: OpenSSL 3 frees its tables in exit() while the loop thread may still
    // be in a handshake, which crashes. The symbol is found through libcurl's dependencies.
    int (*init_crypto)(uint64_t, const void *) =
        (int (*)(uint64_t, const void *))dlsym(library, "OPENSSL_init_crypto");
    if (init_crypto) init_crypto(0x00080000, NULL);
    *(void **)&ssl.set_msg_callback = dlsym(library, "SSL_set_msg_callback");
    *(void **)&ssl.ctrl = dlsym(library, "SSL_ctrl");
    *(void **)&ssl.get0_alpn_selected = dlsym(library, "SSL_get0_alpn_selected");
    // CURL_GLOBAL_ALL. Never undone: FoundationNetworking may share the library.
    if (curl.global_init(3)) {
        load_error = "libcurl cannot be initialised";
        return -1;
    }
    pthread_atfork(NULL, NULL, count_fork);
    return 0;
}

const char *ccurl_load_error(void) { return load_error; }
unsigned int ccurl_version(void) { return curl.version_info(0)->version_num; }
int ccurl_features(void) { return curl.version_info(0)->features; }
const char *ccurl_tls_text(void) {
    const char *text = curl.version_info(0)->ssl_version;
    return text ? text : "";
}
int ccurl_forks(void) { return atomic_load_explicit(&forks, memory_order_relaxed); }

ccurl_easy *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_reset(ccurl_easy *easy) { curl.easy_reset(easy); }
void ccurl_easy_cleanup(ccurl_easy *easy) { curl.easy_cleanup(easy); }
int ccurl_easy_pause(ccurl_easy *easy, int mask) { return curl.easy_pause(easy, mask); }
int ccurl_easy_perform(ccurl_easy *easy) { return curl.easy_perform(easy); }
int ccurl_easy_send(ccurl_easy *easy, const void *bytes, size_t count, size_t *sent) {
    return curl.easy_send(easy, bytes, count, sent);
}
int ccurl_easy_receive(ccurl_easy *easy, void *bytes, size_t count, size_t *received) {
    return curl.easy_recv(easy, bytes, count, received);
}

int ccurl_set_long(ccurl_easy *easy, int option, long value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_set_offset(ccurl_easy *easy, int option, int64_t value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_set_pointer(ccurl_easy *easy, int option, const void *value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_set_data_callback(ccurl_easy *easy, int option, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_set_debug_callback(ccurl_easy *easy, int option, ccurl_debug_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_set_open_callback(ccurl_easy *easy, int option, ccurl_open_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_set_close_callback(ccurl_easy *easy, int option, ccurl_close_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_set_send_callback(ccurl_easy *easy, int option, ccurl_send_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_get_long(ccurl_easy *easy, int info, long *value) {
    return curl.easy_getinfo(easy, info, value);
}
int ccurl_get_offset(ccurl_easy *easy, int info, int64_t *value) {
    return curl.easy_getinfo(easy, info, value);
}
static void note_close_notify(
    int is_ours, int version, int type, const void *bytes, size_t count, void *ssl, void *flag) {
    (void)version;
    (void)ssl;
    // SSL3_RT_ALERT with the description close_notify
    if (!is_ours && type == 21 && count == 2 && ((const unsigned char *)bytes)[1] == 0)
        *(int *)flag = 1;
}

// Returns the SSL object of the transfer's connection; null when it has none or is not OpenSSL's.
static void *connection(ccurl_easy *easy) {
    tls_session *session = NULL;
    // CURLINFO_TLS_SSL_PTR; CURLSSLBACKEND_OPENSSL
    if (curl.easy_getinfo(easy, 0x40002D, &session) || !session) return NULL;
    return session->backend == 1 ? session->internals : NULL;
}

int ccurl_watch_close_notify(ccurl_easy *easy, int *flag) {
    if (!ssl.set_msg_callback || !ssl.ctrl) return -1;
    void *tls = connection(easy);
    if (!tls) return -1;
    *flag = 0;
    ssl.ctrl(tls, 16, 0, flag);  // SSL_CTRL_SET_MSG_CALLBACK_ARG
    ssl.set_msg_callback(tls, note_close_notify);
    return 0;
}

int ccurl_chose_http2(ccurl_easy *easy) {
    void *tls = ssl.get0_alpn_selected ? connection(easy) : NULL;
    if (!tls) return -1;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    ssl.get0_alpn_selected(tls, &name, &length);
    return name && length == 2 && name[0] == 'h' && name[1] == '2';
}

int ccurl_get_text(ccurl_easy *easy, int info, const char **value) {
    return curl.easy_getinfo(easy, info, value);
}

ccurl_url *ccurl_url_init(void) { return curl.url_init(); }
void ccurl_url_cleanup(ccurl_url *url) { curl.url_cleanup(url); }
int ccurl_url_parse(ccurl_url *url, const char *text) {
    // CURLUPART_URL, CURLU_PATH_AS_IS
    return curl.url_set(url, 0, text, 1 << 4);
}

ccurl_multi *ccurl_multi_init(void) { return curl.multi_init(); }
int ccurl_multi_cleanup(ccurl_multi *multi) { return curl.multi_cleanup(multi); }
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy) {
    return curl.multi_add_handle(multi, easy);
}
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy) {
    return curl.multi_remove_handle(multi, easy);
}
int ccurl_multi_action(ccurl_multi *multi, int socket, int events, int *running) {
    return curl.multi_socket_action(multi, socket, events, running);
}
ccurl_easy *ccurl_multi_done(ccurl_multi *multi, int *result) {
    int left = 0;
    for (message *next; (next = curl.multi_info_read(multi, &left));) {
        if (next->kind != 1) continue;  // CURLMSG_DONE
        // Copied here: the message is freed with the handle.
        *result = next->data.result;
        return next->easy;
    }
    return NULL;
}
int ccurl_multi_set_long(ccurl_multi *multi, int option, long value) {
    return curl.multi_setopt(multi, option, value);
}
int ccurl_multi_set_pointer(ccurl_multi *multi, int option, void *value) {
    return curl.multi_setopt(multi, option, value);
}
int ccurl_multi_set_socket_callback(
    ccurl_multi *multi, int option, ccurl_socket_callback callback) {
    return curl.multi_setopt(multi, option, callback);
}
int ccurl_multi_set_timer_callback(
    ccurl_multi *multi, int option, ccurl_timer_callback callback) {
    return curl.multi_setopt(multi, option, callback);
}

#else

// Nothing on other platforms; a translation unit must not be empty.
typedef int ccurl_nothing;

#endif
