// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "ClientPackage",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "DataLoading", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [.product(name: "DataLoading", package: "DataLoading")],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
