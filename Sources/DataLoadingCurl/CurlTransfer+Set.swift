// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl
import Foundation

extension CurlTransfer {
    private var handle: CurlHandle { CurlHandle(easy: easy) }

    func set(_ option: Int32, _ value: Int) throws(DataLoaderError) {
        try handle.set(option, value)
    }

    func set(_ option: Int32, offset: Int64) throws(DataLoaderError) {
        try handle.set(option, offset: offset)
    }

    /// Sets an option to a string, which libcurl copies.
    func set(_ option: Int32, text: String) throws(DataLoaderError) {
        try handle.set(option, text: text)
    }

    func set(_ option: Int32, pointer: UnsafeRawPointer?) throws(DataLoaderError) {
        try handle.set(option, pointer: pointer)
    }

    /// Sets an option to bytes, which libcurl copies; returns its result.
    func set(_ option: Int32, blob: Data) -> Int32 { handle.set(option, blob: blob) }

    func check(_ result: Int32) throws(DataLoaderError) { try handle.check(result) }

    /// Sets the certificates that the URL's host must show, and the one that it is shown.
    ///
    /// libcurl reuses a connection only for the same host name, with the same authorities, pins
    /// and certificate. It never uses a connection for another name that its certificate
    /// covers.
    func setTrust(_ trust: HostTrust) throws(DataLoaderError) {
        try handle.setTrust(trust, library: loop.library)
    }

    /// Sets every callback, with this transfer as its context.
    func setCallbacks() throws(DataLoaderError) {
        let context = UnsafeRawPointer(self.context)
        try set(CurlOption.context, pointer: context)
        try check(ccurl_set_data_callback(easy, CurlOption.headerFunction, CurlCallback.header))
        try set(CurlOption.headerData, pointer: context)
        try check(ccurl_set_data_callback(easy, CurlOption.writeFunction, CurlCallback.write))
        try set(CurlOption.writeData, pointer: context)
        try check(ccurl_set_data_callback(easy, CurlOption.readFunction, CurlCallback.read))
        try set(CurlOption.readData, pointer: context)
        try check(
            ccurl_set_open_callback(easy, CurlOption.openSocketFunction, CurlCallback.open))
        try set(CurlOption.openSocketData, pointer: context)
        // Sockets outlive the transfer that opened them, so the loop is the context of their
        // end.
        try check(
            ccurl_set_close_callback(easy, CurlOption.closeSocketFunction, CurlCallback.close))
        try set(CurlOption.closeSocketData, pointer: UnsafeRawPointer(loop.context))
        if loop.library.canRefuseSends {
            try check(ccurl_set_send_callback(easy, CurlOption.sendFunction, CurlCallback.send))
            try set(CurlOption.sendData, pointer: context)
        }
        try set(CurlOption.errorBuffer, pointer: UnsafeRawPointer(errorText))
    }
}
