import Foundation

/// Signatures made with Python's standard modules, which share no code with the tested code.
enum Signature {
    /// HMAC-SHA1 in base64.
    static func make(of text: String, secret: String) async throws -> String {
        let script =
            "import base64, hmac, sys; print(base64.b64encode("
            + "hmac.digest(sys.argv[1].encode(), sys.argv[2].encode(), 'sha1')).decode())"
        let line = try await Tool.check("/usr/bin/python3", ["-c", script, secret, text])
        return line.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
