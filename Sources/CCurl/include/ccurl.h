// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// The functions that Swift cannot call by itself: libcurl and zlib are found at run time, and
// libcurl's variadic functions need C. Prototypes and layouts are those of the libraries' stable
// binary interfaces, so that no header of theirs is needed.

#ifndef CCURL_H
#define CCURL_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_url ccurl_url;

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

// Returns 0 when libcurl is installed and has every function below; otherwise `ccurl_load_error`
// says why not. Not thread-safe: call it once, before any other function here.
int ccurl_load(void);
const char *ccurl_load_error(void);
unsigned int ccurl_version(void);
int ccurl_features(void);
// Returns the names of the TLS libraries that libcurl was built with.
const char *ccurl_tls_text(void);

ccurl_easy *ccurl_easy_init(void);
void ccurl_easy_reset(ccurl_easy *easy);
void ccurl_easy_cleanup(ccurl_easy *easy);
int ccurl_easy_pause(ccurl_easy *easy, int mask);
// Runs the transfer of a handle in no multi handle, and blocks until its end.
int ccurl_easy_perform(ccurl_easy *easy);
// Send and receive on the connection that a handle was told to open and no more; both return 81 where
// they would block. A connection that the peer has ended receives 0 bytes.
int ccurl_easy_send(ccurl_easy *easy, const void *bytes, size_t count, size_t *sent);
int ccurl_easy_receive(ccurl_easy *easy, void *bytes, size_t count, size_t *received);
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
// Sets `flag` to 1 when the peer of the transfer's TLS connection sends a close_notify. Returns 0
// when that is watched, which needs OpenSSL. `flag` must outlive the connection.
int ccurl_watch_close_notify(ccurl_easy *easy, int *flag);
// Returns whether the server of the transfer's TLS connection has chosen HTTP/2, 1 or 0; -1 when
// that is unknown. It needs OpenSSL.
int ccurl_chose_http2(ccurl_easy *easy);
int ccurl_get_text(ccurl_easy *easy, int info, const char **value);

ccurl_url *ccurl_url_init(void);
void ccurl_url_cleanup(ccurl_url *url);
// Parses a URL, and leaves its path as it is. Returns 0, or a CURLUcode when that fails.
int ccurl_url_parse(ccurl_url *url, const char *text);

ccurl_multi *ccurl_multi_init(void);
int ccurl_multi_cleanup(ccurl_multi *multi);
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_multi_action(ccurl_multi *multi, int socket, int events, int *running);
// Returns the next finished transfer and its result; null when there is none.
ccurl_easy *ccurl_multi_done(ccurl_multi *multi, int *result);
int ccurl_multi_set_long(ccurl_multi *multi, int option, long value);
int ccurl_multi_set_pointer(ccurl_multi *multi, int option, void *value);
int ccurl_multi_set_socket_callback(
    ccurl_multi *multi, int option, ccurl_socket_callback callback);
int ccurl_multi_set_timer_callback(ccurl_multi *multi, int option, ccurl_timer_callback callback);

// Opens the socket that libcurl asks for, closed on exec; returns -1 with errno on failure.
int ccurl_open_socket(const ccurl_sockaddr *address);
// Makes a read-only file in memory, closed on exec; returns -1 on failure.
int ccurl_memory_file(const void *bytes, size_t count);
// Returns the bytes written to a socket that its peer has not acknowledged; -1 when unknown.
int ccurl_unacknowledged(int socket);
// Returns, without waiting, what a socket's peer has done: 0 for nothing, 1 when it has sent
// something, 2 when it will send nothing more.
int ccurl_peer_state(int socket);
// Returns the number of cores that the process may use.
int ccurl_core_count(void);
// Names the calling thread, for debuggers.
void ccurl_name_thread(const char *name);
// Returns how often this process image was forked since `ccurl_load`, counted in the child.
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

// Returns 0 when zlib is installed. Not thread-safe.
int ccurl_zlib_load(void);
int ccurl_inflate_init(ccurl_zstream *stream, int window_bits);
int ccurl_inflate(ccurl_zstream *stream);
int ccurl_inflate_reset(ccurl_zstream *stream);
void ccurl_inflate_end(ccurl_zstream *stream);

#endif
#endif
