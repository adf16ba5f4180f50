internal import CMediaBridge

/// Message digests of GLib.
package enum MessageDigest {
    /// Returns the HMAC-SHA1 of a text (RFC 2104), 20 bytes.
    package static func hmacSHA1(_ text: String, key: String) -> [UInt8] {
        let hmac = g_hmac_new(G_CHECKSUM_SHA1, key, gsize(key.utf8.count))
        defer { g_hmac_unref(hmac) }
        g_hmac_update(hmac, text, gssize(text.utf8.count))
        var count: gsize = 20
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, initialized in
            g_hmac_get_digest(hmac, bytes.baseAddress, &count)
            initialized = Int(count)
        }
    }
}
