// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// One daemon of a fleet, of which `.ci/fleet` starts eight. Nothing is sent for a rate: what counts is
// when. Those that share a login load from the driver.

import PackageDescription

let package = Package(
    name: "FleetProbe",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "DataLoading", path: "../..")],
    targets: [
        .executableTarget(
            name: "FleetProbe",
            dependencies: [
                .product(name: "DataLoading", package: "DataLoading"),
                .product(name: "DataLoadingAuth", package: "DataLoading"),
                .product(name: "DataLoadingFleet", package: "DataLoading"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
