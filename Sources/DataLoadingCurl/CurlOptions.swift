// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// The numbers of the libcurl options that the transport sets.
///
/// They are part of libcurl's stable binary interface, as are those of the infos and results
/// below.
enum CurlOption {
    static let context: Int32 = 10103  // PRIVATE
    static let url: Int32 = 10002
    static let parsedURL: Int32 = 10282  // CURLU
    static let requestTarget: Int32 = 10266
    static let proxy: Int32 = 10004
    static let noProxy: Int32 = 10177
    static let headerOptions: Int32 = 229
    static let proxyHeaders: Int32 = 10228
    static let proxyCertificateFile: Int32 = 10246  // PROXY_CAINFO
    static let proxyCertificateAuthorities: Int32 = 40310  // PROXY_CAINFO_BLOB
    static let proxyCertificatePath: Int32 = 10247
    static let proxyMinTLSVersion: Int32 = 250  // PROXY_SSLVERSION
    static let writeFunction: Int32 = 20011
    static let writeData: Int32 = 10001
    static let readFunction: Int32 = 20012
    static let readData: Int32 = 10009
    static let errorBuffer: Int32 = 10010
    static let verbose: Int32 = 41
    static let debugFunction: Int32 = 20094
    static let debugData: Int32 = 10095
    static let headerFunction: Int32 = 20079
    static let headerData: Int32 = 10029
    static let headers: Int32 = 10023
    static let customRequest: Int32 = 10036
    static let noBody: Int32 = 44
    static let upload: Int32 = 46
    static let post: Int32 = 47
    static let postSize: Int32 = 30120
    static let copyPostFields: Int32 = 10165
    static let uploadSize: Int32 = 30115
    static let httpVersion: Int32 = 84
    static let http09Allowed: Int32 = 285
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let quickExit: Int32 = 322
    static let contentDecoding: Int32 = 158
    static let pathAsIs: Int32 = 234
    static let freshConnect: Int32 = 74
    static let forbidReuse: Int32 = 75
    static let maximumIdleAge: Int32 = 288
    static let maximumLifetime: Int32 = 314
    static let keepAlive: Int32 = 213
    static let keepAliveIdle: Int32 = 214
    static let keepAliveInterval: Int32 = 215
    static let connectTimeout: Int32 = 156
    static let resolve: Int32 = 10203
    static let connectTo: Int32 = 10243
    static let unixSocketPath: Int32 = 10231
    static let openSocketFunction: Int32 = 20163
    static let openSocketData: Int32 = 10164
    static let closeSocketFunction: Int32 = 20208
    static let closeSocketData: Int32 = 10209
    static let sendFunction: Int32 = 20312  // PREREQFUNCTION
    static let sendData: Int32 = 10313
    static let protocols: Int32 = 181
    static let protocolNames: Int32 = 10318
    static let minTLSVersion: Int32 = 32  // SSLVERSION
    static let certificateFile: Int32 = 10065  // CAINFO
    static let certificateAuthorities: Int32 = 40309  // CAINFO_BLOB
    static let certificatePath: Int32 = 10097
    static let pinnedPublicKey: Int32 = 10230
    static let clientCertificate: Int32 = 40291  // SSLCERT_BLOB
    static let clientCertificateType: Int32 = 10086
    static let clientKey: Int32 = 40292  // SSLKEY_BLOB
    static let clientKeyType: Int32 = 10088
    static let clientKeyPassphrase: Int32 = 10026
    static let connectOnly: Int32 = 141
    static let usesALPN: Int32 = 226  // SSL_ENABLE_ALPN
}

enum CurlMultiOption {
    static let socketFunction: Int32 = 20001
    static let socketData: Int32 = 10002
    static let timerFunction: Int32 = 20004
    static let timerData: Int32 = 10005
    static let maximumConnections: Int32 = 6
}

enum CurlInfo {
    static let requestSize: Int32 = 0x20_000C
    static let newConnections: Int32 = 0x20_001A
    static let systemError: Int32 = 0x20_0019
    static let httpVersion: Int32 = 0x20_002E
    static let remoteAddress: Int32 = 0x10_0020
    static let context: Int32 = 0x10_0015  // PRIVATE
    static let activeSocket: Int32 = 0x50_002C
    static let uploadedBytes: Int32 = 0x60_0007
    static let remotePort: Int32 = 0x20_0028
    static let localPort: Int32 = 0x20_002A
    static let connectTime: Int32 = 0x60_0034
    static let timeBeforeSending: Int32 = 0x60_0035
    static let tlsTime: Int32 = 0x60_0038
}

/// The return values of callbacks, and the events of `curl_multi_socket_action` and its
/// callbacks.
enum CurlSignal {
    static let pauseData = 0x1000_0001
    static let abortRead = 0x1000_0000
    static let writeError: Int32 = 23
    static let badSocket: Int32 = -1
    static let timeout: Int32 = -1
    static let readable: Int32 = 1
    static let writable: Int32 = 2
    static let failed: Int32 = 4
    static let removed: Int32 = 4
}
