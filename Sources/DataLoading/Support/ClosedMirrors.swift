// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

/// What `dump` and mirrors see of values that may hold a secret: that they are there.
///
/// A description that is careful is not enough. Whoever prints a value that contains one, dumps it,
/// or has a crash reporter that mirrors everything, reads past every description down to stored
/// properties. So those have no children here, and neither has whatever a lock guards.
protocol Closed: CustomReflectable {}

extension Closed {
    /// A mirror without children.
    public var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>())
    }
}

extension Locked: Closed {}
extension Confined: Closed {}
extension DataLoaderRequest: Closed {}
extension HTTPHeaders: Closed {}
extension HTTPHeaders.Field: Closed {}
extension RequestBody: Closed {}
extension MultipartForm: Closed {}
extension ResponseSink: Closed {}
extension RequestFault: Closed {}
extension Redirect: Closed {}
extension DataLoaderResponse: Closed {}
extension AuthenticationFailure: Closed {}
extension CallResponse: Closed {}
extension TransportRequest: Closed {}
extension ServerTrustPolicy: Closed {}
extension ClientIdentity: Closed {}
extension HostTrust: Closed {}
extension AccessToken: Closed {}
extension BasicCredentials: Closed {}
extension OAuthCredentials: Closed {}
extension OAuthConfiguration: Closed {}
extension OAuthConfiguration.ClientAuthentication: Closed {}
extension DeviceCode: Closed {}
extension AuthorizationPage: Closed {}
extension TokenGrant: Closed {}
