// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoading
import Dispatch
import Foundation

/// Everything at the level of the application and of the user: what only public names can say.
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
    limiter.setRequestsPerSecond(5, burst: 3, for: url)
    limiter.setRetryAfter(.seconds(3), for: url)
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
    let identifier = "badge"

    func requiresAuthorisation(_ request: DataLoaderRequest) -> Bool {
        request.url.host == "example.com"
    }

    func authorise(_ request: DataLoaderRequest, for delegate: any AuthoriserDelegate) {
        guard request.method == .get else {
            return delegate.authoriser(
                self, didFailToAuthorise: request, error: CancellationError())
        }
        var authorised = request
        authorised.headers["Authorization"] = "Bearer badge"
        delegate.authoriser(self, authorised: authorised)
    }

    func requestFailedAuthorisation(_ request: DataLoaderRequest, response: DataLoaderResponse) {}

    func cancelAuthorisation(of request: DataLoaderRequest) {}

    func refresh() {}

    func reset() async {}
}
