// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

/// Attempts through a proxy.
///
/// libcurl keeps connections to different proxies apart, and tunnels to different servers. It
/// knows nothing of a credential in the fields for the proxy, and 7.88.1 reuses a connection that
/// was made with other authorities for the proxy. `CurlLoop.separateProxyUses` keeps those apart.
extension CurlTransfer {
    private static let credentialField = "Proxy-Authorization"

    /// Checks what is sent to the proxy.
    func checkProxy(_ request: TransportRequest) throws(RequestFault) {
        guard request.proxy != nil else { return }
        // Through a tunnel it would reach the server.
        guard !request.headers.contains(Self.credentialField) else {
            throw .reservedHeader(Self.credentialField)
        }
        if let value = request.proxyAuthorization {
            try RequestCheck.check(HTTPHeaders.Field(name: Self.credentialField, value: value))
        }
    }

    /// Prepares for the proxy's answer, where an https server is reached through a tunnel.
    func beginTunnel(for task: CurlTask) {
        guard task.request.proxy != nil, origin?.isSecure == true else { return }
        state.tunnel = Tunnel(headLimit: task.request.headLimit)
    }

    /// Sets the proxy of a shape; without one the handle is set to use none.
    func setProxy(_ shape: CurlShape) throws(DataLoaderError) {
        guard let proxy = shape.proxy else { return }
        try set(CurlOption.proxy, text: proxy.description)
        // An empty list; without any libcurl would read `no_proxy` of the environment.
        try set(CurlOption.noProxy, text: "")
        // CURLHEADER_SEPARATE: the request's fields are not sent with CONNECT.
        try set(CurlOption.headerOptions, 1)
        // RFC 9112 section C.2.2 discourages the field that libcurl would add.
        var lines = ["Proxy-Connection:"]
        if let value = shape.proxyAuthorization {
            lines.append(Self.credentialField + ": " + value)
        }
        let list = CurlStringList(lines)
        try set(CurlOption.proxyHeaders, pointer: list.head)
        proxyHeaderList = list
        if proxy.origin.isSecure { try setTrust(of: proxy) }
    }

    /// Throws where the attempt must not go through its proxy, or cannot.
    ///
    /// It is asked for each attempt: a handle that is set up for the proxy has served others.
    func refuseImpossibleProxy(_ proxy: Proxy) throws(DataLoaderError) {
        guard let request = task?.request else { return }
        guard request.address == nil else {
            throw .unsupported(reason: "an address cannot be reached through a proxy")
        }
        guard !request.refusesPrivateAddresses else {
            throw .unsupported(reason: "the server's address is not known behind a proxy")
        }
        guard !request.needsLoopbackPeer else { throw .plainCredentialElsewhere }
        // Otherwise the answers to CONNECT are not told from those of the server.
        guard loop.library.canRefuseSends else {
            throw .unsupported(reason: "a proxy needs libcurl 7.80 or later")
        }
        guard !proxy.origin.isSecure || loop.library.hasHTTPSProxies else {
            throw .unsupported(reason: "this libcurl has no https proxies")
        }
    }

    private func setTrust(of proxy: Proxy) throws(DataLoaderError) {
        // CURL_SSLVERSION_TLSv1_2, as for servers.
        try set(CurlOption.proxyMinTLSVersion, 6)
        guard let authorities = proxy.certificateAuthorities else { return }
        if loop.library.cachesAuthorities,
            let path = AuthorityFiles.shared.path(of: authorities)
        {
            try set(CurlOption.proxyCertificateFile, text: path)
        } else {
            guard set(CurlOption.proxyCertificateAuthorities, blob: authorities) == 0 else {
                throw .unsupported(reason: "private authorities need libcurl 7.77 or later")
            }
        }
        // Otherwise libcurl would still trust the system's directory of authorities.
        try set(CurlOption.proxyCertificatePath, pointer: nil)
    }

    /// Receives a line of the proxy's answer to CONNECT; returns false to end the transfer.
    ///
    /// A 407 is delivered like a response, so that its challenge can be answered.
    func receiveAnswer(
        _ line: UnsafeRawBufferPointer, of tunnel: Tunnel, _ task: CurlTask
    ) throws(DataLoaderError) -> Bool {
        guard let refusal = try tunnel.receive(line) else { return true }
        task.sink.didReceive(refusal)
        return false
    }

    /// Returns an error with the hop that failed: before the tunnel, or before the request, it is
    /// the proxy.
    func naming(_ error: DataLoaderError) -> DataLoaderError {
        guard task?.request.proxy != nil, state.sends == 0, state.tunnel?.isOpen != true,
            let fault = ProxyFault(error.kind)
        else { return error }
        return DataLoaderError(.proxy(fault), underlyingError: error.underlyingError)
    }
}

extension CurlLoop {
    /// The maximum number of proxies whose use is remembered.
    private static let maxProxyUses = 16

    /// Excludes the open connections from an attempt with another credential or trust for its
    /// proxy than they were opened with.
    ///
    /// A plain request carries its own credential, so that only its trust counts.
    func separateProxyUses(of transfer: CurlTransfer) {
        guard let request = transfer.task?.request, let proxy = request.proxy else { return }
        let isTunnel = transfer.origin?.isSecure == true
        var use = proxyUses[proxy.origin] ?? ProxyUse(proxy: proxy)
        let credential = request.proxyAuthorization
        let isOther = isTunnel && use.hasTunnel && use.credential != credential
        let isNew = proxyUses[proxy.origin] == nil
        guard isNew || isOther || use.proxy != proxy || isTunnel && !use.hasTunnel else { return }
        if isOther || use.proxy != proxy || proxyUses.count >= Self.maxProxyUses {
            retireConnections()
            use = ProxyUse(proxy: proxy)
            if proxyUses.count >= Self.maxProxyUses { proxyUses = [:] }
        }
        if isTunnel { (use.hasTunnel, use.credential) = (true, credential) }
        proxyUses[proxy.origin] = use
    }
}

/// How the connections to a proxy that attempts may use were opened.
struct ProxyUse {
    let proxy: Proxy
    var hasTunnel = false
    /// The credential of its tunnels.
    var credential: String?
}
