// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Workarounds for single versions of libcurl.
//
// Each file in this folder has one quirk. Its head says what libcurl does, on which versions
// it was seen, where libcurl's maintainers know of it, and which test must pass before the
// code can be removed. The conditions of the loaded version are below.
//
// "Seen on" names versions that continuous integration runs the tests with: 7.88.1, 8.14.1 and
// 8.23.0. It says nothing about the versions in between.
//
// Four quirks have no file here, because their code cannot be separated from what it is in:
//
// - libcurl takes a gzip body that is cut off as complete, and decodes into memory without a
//   limit while a transfer is paused (`ContentDecoder`). Seen on 7.88.1; no upstream report
//   known; `CurlDecodingTests`, "a gzip body that is cut off is refused".
// - libcurl joins a connection of HTTP/2 that is in use whatever its age (`Route`). Seen on
//   7.88.1 and 8.14.1, not on 8.23.0: https://github.com/curl/curl/pull/22671;
//   `CurlRouteTests`, "an old connection takes no new attempt, however busy it is".
// - libcurl picks one of two lengths, and takes the status line "HTTP/2 200" over HTTP/1.1 as
//   its own (`ResponseGuard`). Seen on 7.88.1; no upstream report known; `CurlGuardTests`, "a
//   response with ambiguous framing is refused".
// - libcurl refuses another buffer size while a handle has a buffer (`CurlTransfer+Options`).
//   Seen on 7.88.1; no upstream report known. The refusal is ignored, so that there is no code
//   to remove.

extension CurlLibrary {
    /// Whether kept connections are checked before each use: `CurlLoop+EndedConnections`.
    ///
    /// True from 8.5.0 on, where HTTP/2 is used by default. 7.88.1 has a part of the quirk, and
    /// nothing is done there.
    var checksKeptConnections: Bool { version >= 0x08_05_00 }

    /// Whether CURLINFO_REQUEST_SIZE counts bodies that libcurl reads by callback:
    /// `CurlTransfer+RequestSize`.
    var countsBodies: Bool { version >= 0x08_07_00 }

    /// Whether bodies of HTTP/2 arrive whole where streams share a connection:
    /// `CurlTransfer+LostPieces`.
    var keepsPieces: Bool { version >= 0x08_01_00 }

    /// Whether libcurl keeps connections of HTTP/1.1 and HTTP/2 to one server apart:
    /// `CurlLoop+BusyConnections`.
    var separatesProtocols: Bool { version >= 0x08_05_00 }
}
