// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

#ifndef CCURL_H
#define CCURL_H
#endif
