// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .treatAllWarnings(as: .error),  // SE-0480
    .treatWarning("ExplicitSendable", as: .error),
]

let package = Package(
    name: "DataLoading",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "DataLoading", targets: ["DataLoading"]),
        .library(name: "DataLoadingTesting", targets: ["DataLoadingTesting"]),
        .executable(name: "FeedDaemon", targets: ["FeedDaemon"]),
    ],
    traits: [
        // Off, so that a daemon on Linux neither links FoundationNetworking nor needs it at run time.
        .trait(
            name: "URLSession",
            description: "URLSessionTransport on Linux; Apple's platforms always have it.")
    ],
    targets: [
        .target(name: "CCurl"),
        .target(name: "DataLoading", dependencies: ["CCurl"], swiftSettings: strict),
        .target(
            name: "DataLoadingTesting", dependencies: ["DataLoading"], swiftSettings: strict),
        .executableTarget(
            name: "FeedDaemon", dependencies: ["DataLoading", "DataLoadingTesting"],
            path: "Demo/FeedDaemon", swiftSettings: strict),
        .testTarget(
            name: "DataLoadingTests",
            dependencies: ["DataLoading", "DataLoadingTesting", "FeedDaemon"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
