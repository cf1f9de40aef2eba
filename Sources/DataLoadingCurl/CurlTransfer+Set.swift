// Copyright the DataLoading authors
// SPDX-License-Identifier: Apache-2.0

import DataLoadingTransport
import CCurl

extension CurlTransfer {
    func set(_ option: Int32, _ value: Int) throws(DataLoaderError) {
        try check(ccurl_set_long(easy, option, value))
    }

    func set(_ option: Int32, offset: Int64) throws(DataLoaderError) {
        try check(ccurl_set_offset(easy, option, offset))
    }

    /// Sets an option to a string, which libcurl copies.
    func set(_ option: Int32, text: String) throws(DataLoaderError) {
        try check(ccurl_set_pointer(easy, option, text))
    }

    func set(_ option: Int32, pointer: UnsafeRawPointer?) throws(DataLoaderError) {
        try check(ccurl_set_pointer(easy, option, pointer))
    }

    func check(_ result: Int32) throws(DataLoaderError) {
        switch result {
        case 0: return
        case 27: throw .resources(reason: "memory")
        default: throw .unsupported(reason: "libcurl refuses an option (\(result))")
        }
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
