// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Compiles and tests the adapters to packages of Swift's server ecosystem, which programs copy: the
// library itself has no dependency.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .treatAllWarnings(as: .error),  // SE-0480
    .treatWarning("ExplicitSendable", as: .error),
]

let package = Package(
    name: "SwiftServerAdapters",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "DataLoading", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .target(
            name: "SwiftServerAdapters",
            dependencies: [
                .product(name: "DataLoading", package: "DataLoading"),
                .product(name: "DataLoadingOperations", package: "DataLoading"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SwiftServerAdaptersTests",
            dependencies: [
                "SwiftServerAdapters",
                .product(name: "DataLoadingTesting", package: "DataLoading"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
