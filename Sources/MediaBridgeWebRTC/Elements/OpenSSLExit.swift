#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Lets processes exit while threads of DTLS still run.
///
/// OpenSSL frees its memory in a handler of `exit`, and GStreamer's elements for DTLS use it from threads of their
/// own, up to seconds after a connection is closed: some exits crashed. Without the handler the memory is
/// the system's to take back.
///
/// Source: `OPENSSL_init_crypto(3)`.
enum OpenSSLExit {
    /// Keeps OpenSSL 3 from registering the handler. Call it before anything loads GStreamer's plugin for DTLS;
    /// a program that has used OpenSSL itself before has the handler already. Does nothing a second time.
    static func prevent() { _ = prevention }

    /// OPENSSL_INIT_NO_ATEXIT
    private static let noExitHandler: UInt64 = 0x0008_0000

    private static let prevention: Bool = {
        // The library that the plugin is linked with; it stays loaded.
        guard let library = dlopen("libcrypto.so.3", RTLD_NOW),
            let symbol = dlsym(library, "OPENSSL_init_crypto")
        else { return false }
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> Int32
        return unsafeBitCast(symbol, to: Initialize.self)(noExitHandler, nil) == 1
    }()
}
