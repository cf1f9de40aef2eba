// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Compiles the library with a module named Combine, as on Apple's platforms, and tests what it then
// has. `Library` is a link to the library's own sources.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .treatAllWarnings(as: .error),  // SE-0480
    .treatWarning("ExplicitSendable", as: .error),
]

/// A target of the library, from its own sources.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Library/\(name)",
        swiftSettings: name == "CCurl" ? nil : strict)
}

let package = Package(
    name: "CombineOnLinux",
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0")
    ],
    targets: [
        .target(
            name: "Combine",
            dependencies: [.product(name: "OpenCombine", package: "OpenCombine")],
            swiftSettings: strict),
        library("CCurl"),
        library("DataLoadingSupport"),
        library("DataLoadingTransport", ["DataLoadingSupport"]),
        library("DataLoadingCache", ["DataLoadingTransport"]),
        library("DataLoadingCurl", ["CCurl", "DataLoadingTransport"]),
        library(
            "DataLoading",
            ["Combine", "DataLoadingCache", "DataLoadingCurl", "DataLoadingTransport"]),
        library("DataLoadingAuth", ["DataLoading"]),
        library("DataLoadingSockets", ["DataLoadingSupport"]),
        library("DataLoadingTesting", ["DataLoadingAuth", "DataLoadingSockets"]),
        .testTarget(
            name: "PublisherTests", dependencies: ["Combine", "DataLoadingTesting"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
