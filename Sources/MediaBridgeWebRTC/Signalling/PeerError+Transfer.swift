internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension PeerError {
    /// The error for a request that got no reply.
    ///
    /// - Parameters:
    ///   - error: An error of `URLSession`. It names the URL, query included, and is not passed on.
    ///   - server: The scheme, host and port.
    init(_ error: any Error, at server: String) {
        let code = (error as? URLError)?.code
        let text = Self.textOfCurl(error)
        if Self.isCertificate(code) || text?.contains("certificate") == true {
            self.init(
                .unreachable,
                message: "the certificate of \(server) is not trusted"
                    + (text.map { ": \($0)" } ?? ""),
                advice: "add its authority to the system with update-ca-certificates")
        } else {
            self.init(
                code == .timedOut ? .deadlineExceeded : .unreachable,
                message: "cannot reach \(server): \(text ?? Self.reason(of: code))",
                advice: "check the address, and that a server listens there")
        }
    }

    private static func isCertificate(_ code: URLError.Code?) -> Bool {
        switch code {
        case .secureConnectionFailed, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid:
            true
        default: false
        }
    }

    /// The text of curl for an error that `URLSession` has no code for, as for a certificate that is not
    /// accepted; `nil` where there is a code, or where a URL might be in the text.
    private static func textOfCurl(_ error: any Error) -> String? {
        guard (error as? URLError)?.code == .unknown else { return nil }
        let text = error.localizedDescription
        return text.isEmpty || text.contains("/") || text.contains("?") ? nil : text.printablePrefix
    }

    private static func reason(of code: URLError.Code?) -> String {
        switch code {
        case .cannotConnectToHost: "connection refused"
        case .cannotFindHost, .dnsLookupFailed: "host not found"
        case .timedOut: "timed out"
        case .networkConnectionLost: "the connection was lost"
        case .badServerResponse: "the answer is not HTTP"
        case let code?: "URLSession error \(code.rawValue)"
        case nil: "the connection failed"
        }
    }
}
