// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Counts the allocations of the whole process, by standing before the allocator of the C library.

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

// Starts the count at zero.
void allocations_begin(void);
// Ends the count and answers how many allocations there were.
long allocations_end(void);

#endif
