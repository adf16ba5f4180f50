package import HTTPTypes

/// Why a request is refused, as the client is told.
package struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// One line, without anything that the client sent.
    let text: String
    var fields = HTTPFields()

    init(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) {
        self.status = status
        self.text = text
        self.fields = fields
    }

    /// Refused now; a later attempt may succeed.
    ///
    /// - Parameter delay: Seconds.
    init(_ status: HTTPResponse.Status, _ text: String, retryAfter delay: Int) {
        self.init(status, text, [.retryAfter: "\(delay)"])
    }

    /// The response, and its body: the reason as text.
    package var response: (HTTPResponse, [UInt8]) {
        var response = HTTPResponse(status: status, headerFields: fields)
        response.headerFields[.contentType] = "text/plain; charset=utf-8"
        response.headerFields[.xContentTypeOptions] = "nosniff"
        return (response, Array((text + "\n").utf8))
    }

    static let tooLong = RequestRefusal(.contentTooLarge, "a body has 256 KiB at most")
    static let notFound = RequestRefusal(.notFound, "there is nothing here")
    static let noSession = RequestRefusal(.notFound, "there is no such session, or it has ended")
    static let noToken = RequestRefusal(
        .unauthorized, "a token is needed: Authorization: Bearer …",
        [.wwwAuthenticate: "Bearer realm=\"media\""])

    /// The refusal for what the engine's side of the server says.
    init(_ refusal: ServedChannel.Refusal) {
        switch refusal {
        case .nothingShared:
            self.init(.conflict, "nothing is shared now; try again later", retryAfter: 1)
        case .full: self.init(.serviceUnavailable, "all places are taken", retryAfter: 10)
        case .crowded:
            self.init(.tooManyRequests, "too many are connecting at this moment", retryAfter: 1)
        case .nameTaken:
            self.init(.conflict, "somebody has this name; take another", retryAfter: 5)
        case .over: self.init(.conflict, "the engine has left; try again later", retryAfter: 1)
        case .peer(let error):
            switch error.code {
            case .badDescription:
                self.init(
                    .badRequest, "this is no offer of WebRTC: \(error.message.printablePrefix)")
            case .nothingInCommon:
                self.init(.notAcceptable, "the offer has no codec in common with what is sent here")
            case .deadlineExceeded:
                self.init(.serviceUnavailable, "the answer took too long", retryAfter: 1)
            default: self.init(.internalServerError, "the connection could not be made")
            }
        }
    }
}
