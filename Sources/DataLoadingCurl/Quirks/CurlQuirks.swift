// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Workarounds for single versions of libcurl.
///
/// Each file in this folder has one quirk. Its head says what libcurl does, on which versions
/// it was seen, where libcurl's maintainers know of it, and which test must pass before the
/// code can be removed. `CurlLibrary+Quirks` has the conditions of the loaded version.
///
/// "Seen on" names versions that continuous integration runs the tests with: 7.88.1, 8.14.1 and
/// 8.23.0. It says nothing about the versions in between.
///
/// Four quirks have no file, because their code cannot be separated from what it is in:
///
/// - libcurl takes a gzip body that is cut off as complete, and decodes into memory without a
///   limit while a transfer is paused (`ContentDecoder`). Seen on 7.88.1; no upstream report
///   known; `CurlDecodingTests`, "a gzip body that is cut off is refused".
/// - libcurl joins a connection of HTTP/2 that is in use whatever its age (`Route`). Seen on
///   7.88.1 and 8.14.1, not on 8.23.0: https://github.com/curl/curl/pull/22671;
///   `CurlRouteTests`, "an old connection takes no new attempt, however busy it is".
/// - libcurl picks one of two lengths, and takes the status line "HTTP/2 200" over HTTP/1.1 as
///   its own (`ResponseGuard`). Seen on 7.88.1; no upstream report known; `CurlGuardTests`, "a
///   response with ambiguous framing is refused".
/// - libcurl refuses another buffer size while a handle has a buffer (`CurlTransfer+Options`).
///   Seen on 7.88.1; no upstream report known. The refusal is ignored, so that there is no code
///   to remove.
enum CurlQuirks {}
