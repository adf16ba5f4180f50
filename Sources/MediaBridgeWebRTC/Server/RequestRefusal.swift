package import HTTPTypes

/// Why a request is refused, as reported to the client.
package struct RequestRefusal: Error {
    let status: HTTPResponse.Status
    /// One line, without any text from the client.
    let text: String
    var fields = HTTPFields()

    init(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) {
        self.status = status
        self.text = text
        self.fields = fields
    }

    /// A temporary refusal; a later attempt may succeed.
    ///
    /// - Parameter delay: The delay before the next attempt, in seconds.
    init(_ status: HTTPResponse.Status, _ text: String, retryAfter delay: Int) {
        self.init(status, text, [.retryAfter: "\(delay)"])
    }

    /// The response, with the reason as its text body.
    package var response: (HTTPResponse, [UInt8]) {
        var response = HTTPResponse(status: status, headerFields: fields)
        response.headerFields[.contentType] = "text/plain; charset=utf-8"
        response.headerFields[.xContentTypeOptions] = "nosniff"
        return (response, Array((text + "\n").utf8))
    }

    static let tooLong = RequestRefusal(.contentTooLarge, "the request body is larger than 256 KiB")
    static let notFound = RequestRefusal(.notFound, "not found")
    static let noSession = RequestRefusal(.notFound, "session not found; it may have ended")
    static let noToken = RequestRefusal(
        .unauthorized, "a token is required: Authorization: Bearer …",
        [.wwwAuthenticate: "Bearer realm=\"media\""])

    /// Creates the refusal of a request that the channel has refused.
    init(_ refusal: ServedChannel.Refusal) {
        switch refusal {
        case .nothingShared:
            self.init(.conflict, "nothing is being shared; try again later", retryAfter: 1)
        case .full: self.init(.serviceUnavailable, "the server is full", retryAfter: 10)
        case .crowded:
            self.init(.tooManyRequests, "too many clients are connecting", retryAfter: 1)
        case .nameTaken:
            self.init(.conflict, "this name is in use; choose another", retryAfter: 5)
        case .over:
            self.init(.conflict, "the engine has left the channel; try again later", retryAfter: 1)
        case .peer(let error):
            switch error.code {
            case .badDescription:
                self.init(.badRequest, "invalid SDP offer: \(error.message.printablePrefix)")
            case .nothingInCommon:
                self.init(.notAcceptable, "the offer has no codec in common with the server")
            case .deadlineExceeded:
                self.init(.serviceUnavailable, "the server took too long to answer", retryAfter: 1)
            default: self.init(.internalServerError, "cannot create the connection")
            }
        }
    }
}
