// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

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

    /// Whether CURLOPT_RESOLVE has entries that expire, those with a plus sign:
    /// `PermanentNameEntries`.
    var expiresNameEntries: Bool { version >= 0x07_4B_00 }

    /// Whether libcurl keeps connections of HTTP/1.1 and HTTP/2 to one server apart:
    /// `CurlLoop+BusyConnections`.
    var separatesProtocols: Bool { version >= 0x08_05_00 }
}
