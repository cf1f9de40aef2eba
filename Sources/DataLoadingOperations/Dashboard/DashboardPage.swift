// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The dashboard's page.
enum DashboardPage {
    static let bytes = Array("<!doctype html><title>Operations</title>".utf8)
    static let contentSecurityPolicy = "default-src 'none'"
}
