import FlyingFox
import FlyingSocks
import Foundation
import HTTPTypes
import MediaBridge
import MediaBridgeWebRTC
import Synchronization

/// An HTTP server, by FlyingFox, in front of a function that answers requests.
final class HTTPDoor: Sendable {
    typealias Answer =
        @Sendable (HTTPTypes.HTTPRequest, [UInt8]) async -> (HTTPTypes.HTTPResponse, [UInt8])

    private let address: ListenAddress
    private let server: HTTPServer
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// The seconds within which a request must be answered. An answer to an offer takes less than one, and
    /// five at most while the first picture is awaited.
    private static let timeout = 15.0

    init(_ address: ListenAddress, _ answer: @escaping Answer) {
        self.address = address
        let handler = Handler(answer: answer)
        switch address {
        case .unix(let path): server = Self.server(sockaddr_un.unix(path: path), handler)
        case .all(let port): server = Self.server(sockaddr_in6.inet6(port: port), handler)
        case .ip4(let host, let port):
            let address = try? sockaddr_in.inet(ip4: host, port: port)
            server = Self.server(address ?? .inet(port: port), handler)
        case .ip6(let host, let port):
            let address = try? sockaddr_in6.inet6(ip6: host, port: port)
            server = Self.server(address ?? .loopback(port: port), handler)
        }
    }

    private static func server(_ address: some SocketAddress, _ handler: Handler) -> HTTPServer {
        HTTPServer(address: address, timeout: timeout, logger: .disabled, handler: handler)
    }

    /// Begins to listen.
    ///
    /// - Returns: The port; `nil` for a socket of a path.
    /// - Throws: ``PipelineError`` if the address cannot be had.
    func open() async throws(PipelineError) -> UInt16? {
        removeStaleSocket()
        let failure = Failure()
        let listening = Task { [server] in try await server.waitUntilListening(timeout: 10) }
        let task = Task { [server] in
            do { try await server.run() } catch {
                failure.error.withLock { $0 = error }
                listening.cancel()
            }
        }
        running.withLock { $0 = task }
        do { try await listening.value } catch {
            throw PipelineError(
                .resourceFailed,
                message: "nobody can listen at \(address): "
                    + reason(failure.error.withLock { $0 } ?? error),
                advice: "--listen with another address or port")
        }
        switch await server.listeningAddress {
        case .ip4(_, let port), .ip6(_, let port): return port
        case .unix, nil: return nil
        }
    }

    /// Why the server has ended.
    private final class Failure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    private func reason(_ error: any Error) -> String {
        if case SocketError.failed(_, let number, _) = error {
            return String(cString: strerror(number))
        }
        return "\(error)"
    }

    /// Stops listening and cuts the connections.
    func close() async {
        await server.stop(timeout: 0)
        await running.withLock({ $0.take() })?.value
        if case .unix(let path) = address { unlink(path) }
    }

    /// A socket that a killed process has left would be in the way. One that somebody listens at stays.
    private func removeStaleSocket() {
        guard case .unix(let path) = address else { return }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard probe >= 0 else { return }
        defer { Glibc.close(probe) }
        let result = sockaddr_un.unix(path: path).withSockAddr { address, length in
            connect(probe, address, length)
        }
        if result != 0, errno == ECONNREFUSED { unlink(path) }
    }
}

/// Translates between FlyingFox's requests and responses and those of HTTPTypes.
private struct Handler: HTTPHandler {
    let answer: HTTPDoor.Answer

    func handleRequest(
        _ request: FlyingFox.HTTPRequest
    ) async throws -> FlyingFox.HTTPResponse {
        guard let method = HTTPTypes.HTTPRequest.Method(request.method.rawValue) else {
            return FlyingFox.HTTPResponse(statusCode: .badRequest)
        }
        var fields = HTTPFields()
        for (header, value) in request.headers {
            guard let name = HTTPField.Name(header.rawValue), header != .host else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        let (body, isComplete) = try await body(of: request)
        let translated = HTTPTypes.HTTPRequest(
            method: method, scheme: "http", authority: request.headers[.host],
            path: request.target.rawValue, headerFields: fields)
        let (response, bytes) = await answer(translated, body)
        var headers = HTTPHeaders()
        for field in response.headerFields {
            headers.addValue(field.value, for: HTTPHeader(field.name.rawName))
        }
        let status = HTTPStatusCode(response.status.code, phrase: response.status.reasonPhrase)
        guard !isComplete else {
            return FlyingFox.HTTPResponse(
                statusCode: status, headers: headers, body: Data(bytes))
        }
        // The rest of the body must not be taken for the next request.
        headers[HTTPHeader("Connection")] = "close"
        return FlyingFox.HTTPResponse(
            statusCode: status, headers: headers,
            body: HTTPBodySequence(from: LastBody(bytes: bytes), count: bytes.count))
    }

    /// Reads a body, but no more of it than is of use.
    private func body(
        of request: FlyingFox.HTTPRequest
    ) async throws -> (bytes: [UInt8], isComplete: Bool) {
        var bytes: [UInt8] = []
        let limit = WebRTCServer.maximumBodyLength
        guard request.bodySequence.count ?? 0 <= limit else {
            return ([UInt8](repeating: 0, count: limit + 1), false)
        }
        for try await chunk in request.bodySequence {
            bytes.append(contentsOf: chunk)
            if bytes.count > limit { return (bytes, false) }
        }
        return (bytes, true)
    }
}

/// The last body of a connection: its end is an error, so that FlyingFox closes the connection.
private struct LastBody: AsyncBufferedSequence {
    typealias Element = UInt8
    let bytes: [UInt8]

    struct Iterator: AsyncBufferedIteratorProtocol {
        var bytes: [UInt8]?

        mutating func next() async throws -> UInt8? { throw SocketError.disconnected }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard let bytes = bytes.take() else { throw SocketError.disconnected }
            return bytes
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }
}
