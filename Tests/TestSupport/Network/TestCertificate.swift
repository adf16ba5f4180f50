/// A certificate for an address on a test's network, and the authority that signed it. Valid for
/// two days.
public struct TestCertificate: Sendable {
    /// The authority's certificate, which clients must trust: the path of a PEM file.
    public let authority: String
    /// The server's certificate: the path of a PEM file.
    public let certificate: String
    /// The server's key, without a password: the path of a PEM file.
    public let key: String

    /// Creates both with openssl, in 0.1 s.
    ///
    /// - Parameter address: An IPv4 address.
    public init(for address: String, in directory: TemporaryDirectory) async throws {
        authority = directory.file("authority.pem")
        certificate = directory.file("certificate.pem")
        key = directory.file("key.pem")
        let (authorityKey, request) = (
            directory.file("authority-key.pem"), directory.file("request.pem")
        )
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await Tool.check(
            "openssl",
            ["req", "-x509", "-days", "2", "-subj", "/CN=Test authority", "-out", authority]
                + ["-keyout", authorityKey] + newKey)
        try await Tool.check(
            "openssl",
            ["req", "-subj", "/CN=\(address)", "-addext", "subjectAltName=IP:\(address)"]
                + ["-out", request, "-keyout", key] + newKey)
        try await Tool.check(
            "openssl",
            [
                "x509", "-req", "-days", "2", "-in", request, "-CA", authority, "-CAkey",
                authorityKey, "-CAcreateserial", "-copy_extensions", "copy", "-out", certificate,
            ])
    }
}
