// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#include "ccurl.h"

#include <dlfcn.h>

static struct {
    int (*inflate_init2)(ccurl_zstream *, int, const char *, int);
    int (*inflate)(ccurl_zstream *, int);
    int (*inflate_reset)(ccurl_zstream *);
    int (*inflate_end)(ccurl_zstream *);
} zlib;

int ccurl_zlib_load(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **)&zlib.inflate_init2 = dlsym(library, "inflateInit2_");
    *(void **)&zlib.inflate = dlsym(library, "inflate");
    *(void **)&zlib.inflate_reset = dlsym(library, "inflateReset");
    *(void **)&zlib.inflate_end = dlsym(library, "inflateEnd");
    return zlib.inflate_init2 && zlib.inflate && zlib.inflate_reset && zlib.inflate_end ? 0 : -1;
}

int ccurl_inflate_init(ccurl_zstream *stream, int window_bits) {
    // Any "1…" version with this structure's size is accepted.
    return zlib.inflate_init2(stream, window_bits, "1.2.0", (int)sizeof(ccurl_zstream));
}
int ccurl_inflate(ccurl_zstream *stream) { return zlib.inflate(stream, 0); }
int ccurl_inflate_reset(ccurl_zstream *stream) { return zlib.inflate_reset(stream); }
void ccurl_inflate_end(ccurl_zstream *stream) { zlib.inflate_end(stream); }

#else

// Nothing on other platforms; a translation unit must not be empty.
typedef int ccurl_no_zlib;

#endif
