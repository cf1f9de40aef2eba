// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackageDescription

// AsyncHTTPClient takes minutes to build, so it is a dependency only when asked for.
let hasPeers = ProcessInfo.processInfo.environment["BENCHMARK_PEERS"] == "1"

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .treatAllWarnings(as: .error),  // SE-0480
]
var packages: [Package.Dependency] = [.package(name: "DataLoading", path: "../..")]
var products: [Target.Dependency] = [
    "CAllocations", "CBareCurl", "CBareEpoll", "CLoopback",
    .product(name: "DataLoading", package: "DataLoading"),
    .product(name: "DataLoadingOperations", package: "DataLoading"),
]
if hasPeers {
    settings.append(.define("BENCHMARK_PEERS"))
    packages.append(
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"))
    packages.append(.package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"))
    products.append(.product(name: "AsyncHTTPClient", package: "async-http-client"))
    products.append(.product(name: "NIOSSL", package: "swift-nio-ssl"))
}

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: packages,
    targets: [
        .target(name: "CAllocations"),
        .target(name: "CBareCurl", linkerSettings: [.linkedLibrary(":libcurl.so.4")]),
        .target(name: "CBareEpoll"),
        .target(name: "CLoopback"),
        .executableTarget(
            name: "Benchmarks", dependencies: products, swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
