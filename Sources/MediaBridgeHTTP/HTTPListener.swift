internal import Glibc
package import HTTPTypes
internal import MediaBridge
@_exported public import MediaBridgeWebRTC
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP/1.1 server without TLS, which `WebRTCServer.listen(on:)` returns.
///
/// ```swift
/// let server = WebRTCServer()
/// let listener = try await server.listen(on: "127.0.0.1:8080")
/// print(listener.urls)  // ["http://127.0.0.1:8080/"]
/// await StopSignals.interrupt.wait()
/// await listener.close()
/// ```
///
/// At most 256 connections are open, and at most 64 of them from one network address (IPv6: one /64). A new connection
/// then replaces the one that has been idle longest; without an idle one it is refused. Where the process may open
/// fewer than 1024 descriptors, a quarter of them is the limit. The length of a request's head (64 KiB) and body and
/// the time for each step (10 to 60 s) are limited.
///
/// Thread: any.
public final class HTTPListener: Sendable {
    package typealias Answer = @Sendable (HTTPRequest, [UInt8]) async -> (HTTPResponse, [UInt8])
    package typealias Refusal = @Sendable (HTTPRequest) -> (HTTPResponse, [UInt8])?

    private struct State {
        var listener: (any Channel)?
        var isClosed = false
        var connections: [ObjectIdentifier: any Channel] = [:]
        // At most a quarter of the descriptors.
        var table = ConnectionTable<ObjectIdentifier>(
            limit: min(256, Descriptors.limit / 4), limitPerAddress: 64)
    }
    private let state = Mutex(State())
    private let address: ListenAddress
    private let advice: String
    private let relay: WebSocketRelay?
    private let refusal: Refusal
    private let answer: Answer

    /// - Parameters:
    ///   - advice: The advice in the error if the server cannot listen on the address.
    ///   - relay: Takes the WebSocket connections; `nil` without WebSockets.
    ///   - refusal: Returns the answer to a request whose body need not be read; `nil` to read it. Called on the
    ///     event loop, only for requests with a body.
    package init(
        _ address: ListenAddress, advice: String = "use another address or port",
        relay: WebSocketRelay? = nil, refusal: @escaping Refusal = { _ in nil },
        _ answer: @escaping Answer
    ) {
        self.address = address
        self.advice = advice
        self.relay = relay
        self.refusal = refusal
        self.answer = answer
    }

    /// Starts to listen.
    ///
    /// - Throws: ``PipelineError`` if the server cannot listen on the address.
    package func open() async throws(PipelineError) {
        // The socket of a killed process is removed; one with a listener stays.
        if case .unix(let path) = address, (try? ControlSocket.isAbandoned(path)) == true {
            unlink(path)
        }
        do {
            let listener = try await bind()
            state.withLock { $0.listener = listener }
        } catch {
            throw PipelineError(
                .resourceFailed, message: "cannot listen on \(address): \(reason(error))",
                advice: advice)
        }
    }

    /// The port of the listener, also if the address had port 0. `nil` for a Unix socket, and after the end.
    public var port: UInt16? {
        state.withLock { $0.listener?.localAddress?.port.map { UInt16($0) } }
    }

    /// The URLs of the root, one for each address of this machine that it listens on (e.g. `http://127.0.0.1:8080/`).
    /// Empty for a Unix socket, and once it is closed.
    public var urls: [String] {
        guard let port else { return [] }
        return address.hosts.map { "http://\($0):\(port)/" }
    }

    private func bind() async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Clients may half-close the connection after the request.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try admit(channel) }
            }
        switch address {
        case .unix(let path): return try await bootstrap.bind(unixDomainSocketPath: path).get()
        case .network(let host?, let port):
            return try await bootstrap.bind(host: host, port: Int(port)).get()
        case .network(nil, let port):
            do {
                return try await bootstrap.bind(host: "::", port: Int(port)).get()
            } catch let error as IOError where error.errnoCode == EAFNOSUPPORT {
                // A machine without IPv6.
                return try await bootstrap.bind(host: "0.0.0.0", port: Int(port)).get()
            }
        }
    }

    private struct TooMany: Error {}

    /// Prepares a connection.
    ///
    /// - Throws: An error if there are too many connections. The error closes this one.
    private func admit(_ channel: any Channel) throws {
        let id = ObjectIdentifier(channel)
        let origin = Self.origin(of: channel)
        let victim: (any Channel)? = try state.withLock { state in
            guard !state.isClosed else { throw TooMany() }
            let admission = state.table.admit(id, from: origin)
            guard admission != .refused else { throw TooMany() }
            state.connections[id] = channel
            guard case .admittedInsteadOf(let other) = admission else { return nil }
            return state.connections[other]
        }
        victim?.close(promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in
            // Released outside of the lock.
            _ = self?.state.withLock { state in
                state.table.remove(id)
                return state.connections.removeValue(forKey: id)
            }
        }
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (16 * 1024, 64 * 1024)
        let http: [any RemovableChannelHandler] = [
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)),
            HTTPServerPipelineHandler(), NIOHTTPResponseHeadersValidator(),
            HTTPServerProtocolErrorHandler(),
        ]
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(http.map { $0 as any ChannelHandler })
        try pipeline.addHandler(
            HTTPConversation(relay: relay.map { ($0, http) }, refusal: refusal, answer) {
                [weak self] isIdle in
                self?.state.withLock { $0.table.setIdle(isIdle, id) }
            })
    }

    private static func origin(
        of channel: any Channel
    ) -> ConnectionTable<ObjectIdentifier>.Origin {
        switch channel.remoteAddress {
        case .v4(let address):
            let bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
            return bytes[0] == 127 ? .local : .network(bytes)
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]
            if bytes.starts(with: mapped) {
                return bytes[12] == 127 ? .local : .network(Array(bytes[12...]))
            }
            let isLoopback = bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
            return isLoopback ? .local : .network(Array(bytes[..<8]))
        case .unixDomainSocket, nil: return .local
        }
    }

    private func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }

    /// Stops listening and closes all connections. Viewers and senders stay connected. A second call does nothing.
    public func close() async {
        let (listener, connections) = state.withLock { state in
            state.isClosed = true
            defer { state.listener = nil }
            return (state.listener, Array(state.connections.values))
        }
        for channel in connections + [listener].compactMap(\.self) {
            try? await channel.close().get()
        }
        if listener != nil, case .unix(let path) = address { unlink(path) }
    }
}

// MARK: - WebRTCServer

extension WebRTCServer {
    /// Serves the pages, WHEP and WHIP over HTTP until the listener is closed.
    ///
    /// HTTP is not encrypted: on untrusted networks, put a web server with HTTPS in front, and set a token
    /// (`Configuration/token`) wherever others can reach the address.
    ///
    /// - Parameter address: `IPV4:PORT`, `[IPV6]:PORT`, `:PORT` for all addresses of this machine, or `unix:PATH`.
    ///   Port 0 is any free port. Default: `127.0.0.1:8080`.
    /// - Returns: The listener. It holds the server, and listens until ``HTTPListener/close()``.
    /// - Throws: `PipelineError.Code/badValue` for another text; `PipelineError.Code/resourceFailed` if the address
    ///   is not available, with the reason of the system.
    public func listen(
        on address: String = "127.0.0.1:8080"
    ) async throws(PipelineError) -> HTTPListener {
        guard let parsed = ListenAddress(address) else {
            throw PipelineError(
                .badValue, message: "cannot listen on \"\(address)\"",
                advice: "use IPV4:PORT, [IPV6]:PORT, :PORT or unix:PATH")
        }
        let listener = HTTPListener(parsed, refusal: refusal) {
            await self.respond(to: $0, body: $1)
        }
        try await listener.open()
        return listener
    }
}

// MARK: - ConnectionTable

/// The open connections of a server. It enforces the limits on their number.
///
/// A connection is idle unless the server is answering a request of it. At a limit, a new connection
/// replaces the one that has been idle longest. Without an idle connection, the new one is refused.
struct ConnectionTable<ID: Hashable> {
    /// The source of a connection.
    enum Origin: Hashable {
        /// This machine. A web server in front may forward many clients from it.
        case local
        /// A network address. Of IPv6 only the first half, because a machine can choose the second half freely.
        case network([UInt8])
    }
    enum Admission: Equatable {
        case admitted
        /// Admitted; the caller closes this connection.
        case admittedInsteadOf(ID)
        case refused
    }
    private struct Entry {
        let origin: Origin
        /// The table's time at which the connection became idle; `nil` while it is busy.
        var idleSince: Int?
    }
    private var entries: [ID: Entry] = [:]
    private var time = 0
    private let limit: Int
    private let limitPerAddress: Int

    /// - Parameters:
    ///   - limit: The maximum number of connections.
    ///   - limitPerAddress: The maximum number of connections from one network address.
    init(limit: Int, limitPerAddress: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    mutating func admit(_ id: ID, from origin: Origin) -> Admission {
        let neighbours = origin == .local ? [:] : entries.filter { $0.value.origin == origin }
        let candidates: [ID: Entry]
        if neighbours.count >= limitPerAddress {
            candidates = neighbours
        } else if entries.count >= limit {
            candidates = entries
        } else {
            add(id, origin)
            return .admitted
        }
        let idle = candidates.compactMap { id, entry in entry.idleSince.map { (id, $0) } }
        guard let victim = idle.min(by: { $0.1 < $1.1 })?.0 else { return .refused }
        entries[victim] = nil
        add(id, origin)
        return .admittedInsteadOf(victim)
    }

    private mutating func add(_ id: ID, _ origin: Origin) {
        entries[id] = Entry(origin: origin)
        setIdle(true, id)
    }

    mutating func setIdle(_ isIdle: Bool, _ id: ID) {
        time += 1
        entries[id]?.idleSince = isIdle ? time : nil
    }

    mutating func remove(_ id: ID) { entries[id] = nil }
}
