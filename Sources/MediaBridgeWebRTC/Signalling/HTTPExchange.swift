internal import Foundation
internal import HTTPTypes
internal import MediaBasics
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends one HTTP request over a separate `URLSession`. With one session for all requests, the
/// request that follows a redirect got no answer in one of two runs under load. Redirects are not
/// followed, nothing is cached or stored, and both the time and the length of a reply are limited.
///
/// Thread: any.
final class HTTPExchange: NSObject, URLSessionDataDelegate, Sendable {
    /// The reply to a request.
    struct Reply: Sendable {
        let response: HTTPResponse
        let body: [UInt8]
    }

    /// The maximum length of a reply's body, in bytes.
    static let maximumLength = 256 * 1024

    private let calls = Mutex<[Int: Call]>([:])
    private let session = Mutex<URLSession?>(nil)

    /// One request, until its reply is complete.
    private final class Call: Sendable {
        private struct State {
            var response: HTTPURLResponse?
            var body: [UInt8] = []
            var failure: PeerError?
            var continuation: CheckedContinuation<Result<Reply, PeerError>, Never>?
            var isOver = false
        }
        private let state = Mutex(State())
        let server: String

        init(to server: String) { self.server = server }

        /// Waits for the reply.
        func reply(_ begin: () -> Void) async -> Result<Reply, PeerError> {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                guard !isOver else {
                    return continuation.resume(returning: .failure(Call.cancelled))
                }
                begin()
            }
        }

        func note(_ response: HTTPURLResponse) { state.withLock { $0.response = response } }

        /// - Returns: False if the reply is too long.
        func note(_ data: Data) -> Bool {
            state.withLock { state in
                guard state.body.count + data.count <= HTTPExchange.maximumLength else {
                    return false
                }
                state.body.append(contentsOf: data)
                return true
            }
        }

        /// Ends the call with the reply received so far, or with an error. Only the first call has
        /// an effect.
        func end(_ failure: PeerError?) {
            let (continuation, result) = state.withLock { state in
                state.isOver = true
                let result: Result<Reply, PeerError>
                if let failure {
                    result = .failure(failure)
                } else if let response = state.response {
                    result = .success(
                        Reply(response: HTTPExchange.translate(response), body: state.body))
                } else {
                    result = .failure(
                        PeerError(.unreachable, message: "\(server) did not answer"))
                }
                return (state.continuation.take(), result)
            }
            continuation?.resume(returning: result)
        }

        static let cancelled = PeerError(.closed, message: "the request was cancelled")
    }

    /// Sends a request and waits for the reply.
    ///
    /// - Parameter timeout: The timeout for the whole exchange.
    func send(
        _ method: HTTPRequest.Method, _ url: URL, _ fields: HTTPFields, body: [UInt8],
        within timeout: Duration
    ) async throws(PeerError) -> Reply {
        var request = URLRequest(url: url)
        request.httpMethod = method.rawValue
        request.httpShouldHandleCookies = false
        request.timeoutInterval = max(1, timeout / .seconds(1))
        for field in fields {
            request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        if !body.isEmpty { request.httpBody = Data(body) }
        let call = Call(to: Origin.text(of: url))
        let task = runningSession.dataTask(with: request)
        calls.withLock { $0[task.taskIdentifier] = call }
        let abandon: @Sendable (PeerError) -> Void = { error in
            call.end(error)
            task.cancel()
        }
        let timer = OneShotTimer(after: max(.zero, timeout)) {
            abandon(
                PeerError(
                    .deadlineExceeded,
                    message: "\(call.server) did not answer within \(timeout.inSeconds) s",
                    advice: "check the address, and that a server listens there"))
        }
        let result = await withTaskCancellationHandler {
            await call.reply { task.resume() }
        } onCancel: {
            abandon(Call.cancelled)
        }
        timer.cancel()
        calls.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) }
        session.withLock { $0.take() }?.finishTasksAndInvalidate()
        return try result.get()
    }

    private var runningSession: URLSession {
        session.withLock { session in
            if let session { return session }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
            session = made
            return made
        }
    }

    private func call(of task: URLSessionTask) -> Call? {
        calls.withLock { $0[task.taskIdentifier] }
    }

    private static func translate(_ response: HTTPURLResponse) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = HTTPField.Name("\(name)") else { continue }
            fields.append(HTTPField(name: name, value: "\(value)"))
        }
        let status = min(max(response.statusCode, 100), 599)
        return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The session would forward the token, and might turn a POST into a GET. The handler is not
        // called: Foundation ends the process if the task was cancelled in the meantime, as at the
        // deadline.
        let call = call(of: task)
        call?.note(response)
        call?.end(nil)
        task.cancel()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { call(of: dataTask)?.note(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let call = call(of: dataTask), !call.note(data) else { return }
        call.end(
            PeerError(
                .refused,
                message: "the answer of \(call.server) exceeds \(Self.maximumLength / 1024) KiB",
                advice: "the URL of a WHIP or WHEP endpoint"))
        dataTask.cancel()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        guard let call = call(of: task) else { return }
        guard let error else { return call.end(nil) }
        call.end(PeerError(error, at: call.server))
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = Int((self / .seconds(1) * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

/// The type of a body, without its parameters.
struct MediaType: Hashable {
    /// In lower case: `application/sdp`.
    let name: String

    static let sdp = MediaType(name: "application/sdp")
    static let trickle = MediaType(name: "application/trickle-ice-sdpfrag")

    private init(name: String) { self.name = name }

    /// - Parameter field: The value of `Content-Type`.
    /// - Returns: `nil` if there is none.
    init?(_ field: String?) {
        guard let field else { return nil }
        let name = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard !name.isEmpty else { return nil }
        self.name = name
    }
}

/// Tokens in `Authorization: Bearer` headers.
enum BearerToken {
    /// Whether a token can be sent in a header: printable ASCII without spaces, up to 4096 characters.
    static func isValid(_ token: String) -> Bool {
        (1...4096).contains(token.utf8.count)
            && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// Returns whether a header contains the token. The time this takes does not depend on how much
    /// of the token is correct.
    ///
    /// - Parameters:
    ///   - token: The correct token.
    ///   - authorization: The value of `Authorization`; `nil` if there is none.
    static func matches(_ token: String, _ authorization: String?) -> Bool {
        guard let authorization else { return false }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        let (right, given) = (Array(token.utf8), Array(parts[1].utf8))
        guard !right.isEmpty else { return false }
        // Every byte of the given token is compared, even after a mismatch.
        var difference = right.count ^ given.count
        for (index, byte) in given.enumerated() {
            difference |= Int(byte ^ right[index % right.count])
        }
        return difference == 0
    }
}
