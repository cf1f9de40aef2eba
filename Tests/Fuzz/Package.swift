// swift-tools-version: 6.2
// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

// Run by `bash Tests/Fuzz/run SECONDS`: libFuzzer needs the library itself instrumented.

import PackageDescription

let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "DataLoading", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                .product(name: "DataLoadingAuth", package: "DataLoading"),
                .product(name: "DataLoadingOperations", package: "DataLoading"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
