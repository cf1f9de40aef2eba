// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Counts the allocations of the whole process by interposing the allocator of the C library.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

// Resets the count to zero.
void allocations_begin(void);
// Stops counting and returns the number of allocations.
long allocations_end(void);

#endif
