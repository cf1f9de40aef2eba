// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__linux__)

#define _GNU_SOURCE
#include "ccurl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int ccurl_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("DataLoading", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    for (size_t done = 0; done < count;) {
        ssize_t written = write(file, (const char *)bytes + done, count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            close(file);
            return -1;
        }
        done += (size_t)written;
    }
    fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return file;
}

#else

// Nothing on other platforms; a translation unit must not be empty.
typedef int ccurl_no_memory_file;

#endif
