// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// Why a credential was not read.
///
/// It has neither the content of the file nor the path of its directory.
public struct CredentialFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the file.
    public enum Reason: Hashable, Sendable {
        /// The name is empty, longer than 255 bytes, or has "/", ".." or a zero byte.
        case malformedName
        /// The system does not open it; its words for the reason.
        case unreadable(reason: String)
        /// A symbolic link leads out of the directory.
        case outsideDirectory
        /// It is a directory, a pipe or a device.
        case notAFile
        /// Its mode lets others than its owner read or change it; only outside of systemd's
        /// directory.
        case openToOthers(mode: UInt32)
        /// It is larger than 1 MiB.
        case tooLarge
        /// It has nothing but a line feed.
        case empty
        /// Its bytes are not UTF-8.
        case notText
    }

    /// The name that was asked for.
    public let name: String
    /// What is wrong.
    public let reason: Reason

    /// A sentence for an operator.
    public var description: String { "the credential \(name.debugDescription) \(words)" }

    private var words: String {
        switch reason {
        case .malformedName: "has a name that no file of the directory can have"
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .outsideDirectory: "is a link out of the directory"
        case .notAFile: "is not a file"
        case .openToOthers(let mode):
            "is open to others, by its mode \(String(mode, radix: 8)); 600 is allowed"
        case .tooLarge: "is larger than 1 MiB"
        case .empty: "is empty"
        case .notText: "is not UTF-8"
        }
    }
}
