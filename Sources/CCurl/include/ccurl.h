// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// What Swift cannot do by itself: find libcurl and zlib at run time, and call variadic functions.
// Prototypes and layouts are those of the libraries' stable binary interfaces; no header is needed.

#ifndef CCURL_H
#define CCURL_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;

// struct curl_slist; libcurl only reads the lists that it is given.
typedef struct ccurl_list {
    char *data;
    struct ccurl_list *next;
} ccurl_list;

// struct curl_blob
typedef struct {
    void *data;
    size_t length;
    unsigned int flags;
} ccurl_blob;

// struct curl_sockaddr up to its address
typedef struct {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
} ccurl_sockaddr;

typedef size_t (*ccurl_data_callback)(char *, size_t, size_t, void *);
typedef int (*ccurl_debug_callback)(ccurl_easy *, int, char *, size_t, void *);
typedef int (*ccurl_open_callback)(void *, int, ccurl_sockaddr *);
typedef int (*ccurl_close_callback)(void *, int);
typedef int (*ccurl_send_callback)(void *, char *, char *, int, int);
typedef int (*ccurl_socket_callback)(ccurl_easy *, int, int, void *, void *);
typedef int (*ccurl_timer_callback)(ccurl_multi *, long, void *);

// 0 when libcurl is there and has every function below; otherwise `ccurl_load_error` says why not.
// Not safe against itself: called once, before anything else here.
int ccurl_load(void);
const char *ccurl_load_error(void);
unsigned int ccurl_version(void);
const char *ccurl_version_text(void);
int ccurl_features(void);
// The TLS libraries that it was built with.
const char *ccurl_tls_text(void);

ccurl_easy *ccurl_easy_init(void);
void ccurl_easy_reset(ccurl_easy *easy);
void ccurl_easy_cleanup(ccurl_easy *easy);
int ccurl_easy_pause(ccurl_easy *easy, int mask);
int ccurl_set_long(ccurl_easy *easy, int option, long value);
int ccurl_set_offset(ccurl_easy *easy, int option, int64_t value);
int ccurl_set_pointer(ccurl_easy *easy, int option, const void *value);
int ccurl_set_data_callback(ccurl_easy *easy, int option, ccurl_data_callback callback);
int ccurl_set_debug_callback(ccurl_easy *easy, int option, ccurl_debug_callback callback);
int ccurl_set_open_callback(ccurl_easy *easy, int option, ccurl_open_callback callback);
int ccurl_set_close_callback(ccurl_easy *easy, int option, ccurl_close_callback callback);
int ccurl_set_send_callback(ccurl_easy *easy, int option, ccurl_send_callback callback);
int ccurl_get_long(ccurl_easy *easy, int info, long *value);
int ccurl_get_offset(ccurl_easy *easy, int info, int64_t *value);
// Sets `notice` to 1 once the peer of the transfer's TLS connection says that it will send no more.
// 0 when that is watched, which needs OpenSSL. `notice` must outlive the connection.
int ccurl_watch_notice(ccurl_easy *easy, int *notice);
// Whether the server of the transfer's TLS connection has chosen HTTP/2, 1 or 0; -1 when that cannot
// be told, which needs OpenSSL.
int ccurl_chose_http2(ccurl_easy *easy);
int ccurl_get_text(ccurl_easy *easy, int info, const char **value);

ccurl_multi *ccurl_multi_init(void);
int ccurl_multi_cleanup(ccurl_multi *multi);
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_multi_action(ccurl_multi *multi, int socket, int events, int *running);
// The next finished transfer and its result; null when there is none.
ccurl_easy *ccurl_multi_done(ccurl_multi *multi, int *result);
int ccurl_multi_set_long(ccurl_multi *multi, int option, long value);
int ccurl_multi_set_pointer(ccurl_multi *multi, int option, void *value);
int ccurl_multi_set_socket_callback(
    ccurl_multi *multi, int option, ccurl_socket_callback callback);
int ccurl_multi_set_timer_callback(ccurl_multi *multi, int option, ccurl_timer_callback callback);

// Opens the socket that libcurl asks for, closed on exec; -1 with errno.
int ccurl_open_socket(const ccurl_sockaddr *address);
// A file that exists in memory alone, closed on exec, whose content cannot be changed; -1 when
// there can be none.
int ccurl_memory_file(const void *bytes, size_t count);
// Bytes written to a socket that its peer has not acknowledged; -1 when it cannot be told.
int ccurl_unacknowledged(int socket);
// What a socket's peer has done, looked at without waiting: 0 for nothing, 1 when it has sent something,
// 2 when it will send nothing more.
int ccurl_peer_state(int socket);
// Names the calling thread, for debuggers.
void ccurl_name_thread(const char *name);
// How often this process image was forked since `ccurl_load`, counted in the child.
int ccurl_forks(void);

// z_stream
typedef struct {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc;
    void *zfree;
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} ccurl_zstream;

// 0 when zlib is there. Not safe against itself.
int ccurl_zlib_load(void);
int ccurl_inflate_init(ccurl_zstream *stream, int window_bits);
int ccurl_inflate(ccurl_zstream *stream);
int ccurl_inflate_reset(ccurl_zstream *stream);
void ccurl_inflate_end(ccurl_zstream *stream);

#endif
#endif
