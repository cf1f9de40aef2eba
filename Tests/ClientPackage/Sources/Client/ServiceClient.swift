// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// The application and user levels, with public names only.
func useService(_ url: URL) async throws {
    var configuration = DataLoaderService.Configuration()
    configuration.userAgent = "client/1"
    configuration.rateLimiter = RateLimiter(defaultRequestsPerSecond: 10, burst: 2)
    configuration.resolver = HostResolver()
    configuration.transport = EchoTransport()
    configuration.serverTrustPolicy = ServerTrustPolicy(
        pinnedPublicKeys: [
            "*.example.com": [
                "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            ]
        ])
    configuration.serverTrustPolicy?.hostCertificateAuthorities = [:]
    configuration.serverTrustPolicy?.clientIdentities["api.example.com"] = ClientIdentity(
        certificateChain: Data("-----BEGIN CERTIFICATE-----".utf8),
        privateKey: Data("-----BEGIN PRIVATE KEY-----".utf8), passphrase: "open")
    try configuration.serverTrustPolicy?.validate()
    configuration.timeouts.connect = .seconds(5)
    configuration.timeouts.idle = .seconds(20)
    configuration.timeouts.total = .seconds(40)
    configuration.limits.perOrigin = 4
    configuration.limits.total = 32
    configuration.limits.queue = 1_000
    configuration.limits.body = 1_048_576
    configuration.limits.head = 65_536
    configuration.retry.maximumRetryCount = 2
    configuration.retry.timer = ExponentialTimer(initialTime: .seconds(1), maxTime: .seconds(30))
    configuration.retry.budget = 100
    try DataLoaderService.bootstrap(configuration)

    let service = DataLoaderService.shared
    useRateLimiter(service.rateLimiter, url)
    useResolver(service.resolver)
    let observer = Meter()
    service.addConsumptionObserver(observer, on: DispatchQueue(label: "meter"))
    let factory = service.makeFactory(authorisers: [Badge()])
    factory.isOffline = !factory.isOffline
    try await useLoader(factory, url)
    await factory.reset()
    await service.reset()
    service.cancelAllLoads()
    service.removeConsumptionObserver(observer)
    await service.shutDown(gracePeriod: .seconds(1))
    DataLoaderService().invalidateAndCancel()
}

func useRateLimiter(_ limiter: RateLimiter, _ url: URL) {
    limiter.setRequestsPerSecond(5, burst: 3, forHostOf: url)
    limiter.setRequestsPerSecond(5, burst: 3, forPathOf: url)
    try? limiter.setRetryAfter(.seconds(3), for: url)
    let wait = limiter.earliestTimeUntilRequestCanBeExecuted(DataLoaderRequest(url: url))
    print(limiter.requestsPerSecond(for: url) ?? 0, wait)
}

func useResolver(_ resolver: HostResolver) {
    resolver.setAddresses(["10.0.0.1", "edge.example.com:8443"], forHost: "example.com")
    resolver.markAddressAsUnreachable("10.0.0.1")
    print(resolver.address(forHost: "example.com"))
}

func useTimer() {
    var timer = ExponentialTimer(
        initialTime: .seconds(1), maxTime: .seconds(60),
        jitter: .normal(ExponentialTimer.defaultJitter))
    print(timer.timeInterval, timer.calculateNext(), timer.timeIntervalAndCalculateNext())
    timer.reset()
    _ = ExponentialTimer(initialTime: .zero, maxTime: .zero, jitter: .none)
    _ = ExponentialTimer(initialTime: .zero, maxTime: .zero, jitter: .full)
}

final class Meter: ConsumptionObserver {
    func endedRequest(
        with response: DataLoaderResponse, bytesDownloaded: Int64, bytesUploaded: Int64
    ) {
        print(response.request.sourceIdentifier ?? "-", bytesDownloaded, bytesUploaded)
    }
}

final class Badge: Authoriser {
    func authorise(_ request: DataLoaderRequest) -> Authorisation {
        guard request.url.host == "example.com" else { return .unchanged }
        guard request.method == .get else { return .refuse(CancellationError()) }
        var authorised = request
        authorised.headers["Authorization"] = "Bearer badge"
        return .use(authorised)
    }

    func recover(_ request: DataLoaderRequest, from response: DataLoaderResponse) -> Bool { false }

    func reset() async {}
}
