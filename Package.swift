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

#if os(macOS)
    // SwiftPM builds all targets of a root package, whether or not the platform needs them; set this
    // to compile for Linux on a Mac.
    let hasCurl = Context.environment["DATALOADING_CURL"] != nil
#else
    let hasCurl = true
#endif

let applePlatforms: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]

// From the lowest floor up: a target imports only those above it in this list.
var targets: [Target] = [
    .target(name: "DataLoadingSupport", swiftSettings: strict),
    // Sockets and threads of the system, for the servers in this package.
    .target(
        name: "DataLoadingSockets", dependencies: ["DataLoadingSupport"], swiftSettings: strict),
    // HTTP's words, errors, and the seam between loads and engines.
    .target(
        name: "DataLoadingTransport", dependencies: ["DataLoadingSupport"], swiftSettings: strict),
    // The rules of a private HTTP cache, and its stores.
    .target(
        name: "DataLoadingCache", dependencies: ["DataLoadingTransport"], swiftSettings: strict),
    .target(
        name: "DataLoadingURLSession", dependencies: ["DataLoadingTransport"],
        swiftSettings: strict),
    .target(
        name: "DataLoading",
        dependencies: [
            "DataLoadingCache",
            "DataLoadingTransport",
            .target(name: "DataLoadingURLSession", condition: .when(platforms: applePlatforms)),
            .target(name: "DataLoadingURLSession", condition: .when(traits: ["URLSession"])),
        ]
            + (hasCurl
                ? [.target(name: "DataLoadingCurl", condition: .when(platforms: [.linux]))] : []),
        swiftSettings: strict),
    .target(name: "DataLoadingAuth", dependencies: ["DataLoading"], swiftSettings: strict),
    // Apart, so that a program without such a login has no server in it.
    .target(
        name: "DataLoadingRedirectReceiver", dependencies: ["DataLoadingAuth"],
        swiftSettings: strict),
    // What a daemon's operators look at; apart, because most programs have none.
    .target(
        name: "DataLoadingOperations", dependencies: ["DataLoading", "DataLoadingSockets"],
        swiftSettings: strict),
    // What a fleet of daemons shares; apart, because a single daemon needs none of it.
    .target(
        name: "DataLoadingFleet",
        dependencies: ["DataLoadingAuth", "DataLoadingSockets"]
            + (hasCurl
                ? [.target(name: "DataLoadingCurl", condition: .when(platforms: [.linux]))] : []),
        swiftSettings: strict),
    .target(
        name: "DataLoadingTesting", dependencies: ["DataLoadingAuth", "DataLoadingSockets"],
        swiftSettings: strict),
    .executableTarget(
        name: "QuickStart", dependencies: ["DataLoading", "DataLoadingTesting"],
        path: "Demo/QuickStart", swiftSettings: strict),
    .executableTarget(
        name: "FeedDaemon",
        dependencies: [
            "DataLoadingAuth", "DataLoadingFleet", "DataLoadingOperations", "DataLoadingTesting",
        ],
        path: "Demo/FeedDaemon", swiftSettings: strict),
    .testTarget(
        name: "DataLoadingTests",
        dependencies: [
            "DataLoadingAuth", "DataLoadingCache", "DataLoadingFleet", "DataLoadingOperations",
            "DataLoadingRedirectReceiver", "DataLoadingSockets", "DataLoadingTesting", "QuickStart",
            "FeedDaemon",
        ],
        swiftSettings: strict),
]
if hasCurl {
    targets += [
        .target(name: "CCurl"),
        .target(
            name: "DataLoadingCurl", dependencies: ["CCurl", "DataLoadingTransport"],
            swiftSettings: strict),
    ]
}

let package = Package(
    name: "DataLoading",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "DataLoading", targets: ["DataLoading"]),
        .library(name: "DataLoadingAuth", targets: ["DataLoadingAuth"]),
        .library(name: "DataLoadingFleet", targets: ["DataLoadingFleet"]),
        .library(name: "DataLoadingOperations", targets: ["DataLoadingOperations"]),
        .library(
            name: "DataLoadingRedirectReceiver", targets: ["DataLoadingRedirectReceiver"]),
        .library(name: "DataLoadingTesting", targets: ["DataLoadingTesting"]),
    ],
    traits: [
        // Off, so that a daemon on Linux neither links FoundationNetworking nor needs it at run time.
        .trait(
            name: "URLSession",
            description: "URLSessionTransport on Linux; Apple's platforms always have it.")
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
