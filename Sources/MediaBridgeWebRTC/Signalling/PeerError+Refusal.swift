internal import Foundation
internal import HTTPTypes

extension PeerError.Code {
    /// The URL is not one of an endpoint, or the token cannot be sent.
    public static let badAddress = PeerError.Code(rawValue: "badAddress")
    /// The server demands a token, or does not take this one.
    public static let unauthorized = PeerError.Code(rawValue: "unauthorized")
    /// The server has no room now, or nothing to send: a later attempt may succeed.
    public static let busy = PeerError.Code(rawValue: "busy")
    /// The server refused the request, or answered with something else than asked for.
    public static let refused = PeerError.Code(rawValue: "refused")
}

extension PeerError {
    /// The error for a reply that is not a success: its status, and the first line of its text.
    static func refusal(
        _ reply: HTTPExchange.Reply, by url: URL, sentToken: Bool
    ) -> PeerError {
        let status = reply.response.status.code
        let (code, advice) = meaning(of: status, sentToken: sentToken)
        let line = firstLine(of: reply)
        return PeerError(
            code,
            message: "\(Origin.text(of: url)) refused with status \(status)"
                + (line.isEmpty ? "" : ": \(line)"),
            advice: advice)
    }

    private static func meaning(of status: Int, sentToken: Bool) -> (Code, String?) {
        switch status {
        case 401, 403:
            (.unauthorized, sentToken ? "another token; the server refused this one" : "a token")
        case 404, 410: (.refused, "the URL of the endpoint, or a session that has not ended")
        case 405, 501: (.refused, "the URL of a WHIP or WHEP endpoint")
        case 406: (.nothingInCommon, "another codec")
        case 409, 429, 503: (.busy, "again later")
        case 300..<400: (.refused, "the URL to which it redirects")
        default: (.refused, nil)
        }
    }

    /// The first line of a text, printable and at most 200 characters long; empty for a page.
    private static func firstLine(of reply: HTTPExchange.Reply) -> String {
        let type = MediaType(reply.response.headerFields[.contentType])
        guard type?.name != "text/html", type != .sdp else { return "" }
        let text = String(decoding: reply.body.prefix(2000), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first ?? ""
        return line.trimmingCharacters(in: .whitespaces).printablePrefix
    }
}

extension StringProtocol {
    /// At most 200 characters of the text, in which control characters are replaced.
    var printablePrefix: String {
        String(
            String.UnicodeScalarView(
                self.prefix(200).unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}
