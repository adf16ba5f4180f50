internal import BridgeEngine
internal import Glibc
internal import MediaBasics
internal import Synchronization

/// A Unix socket that takes requests of one line each, and answers each with one line.
///
/// Only the user of the process may connect (mode 0600). A client's next line is read when the one
/// before is answered. A client is disconnected if it sends a line of more than 4096 bytes, or does
/// not read an answer within 5 s; so is the 17th at a time. A client that sends `watch` gets the lines of
/// ``publish(_:)`` from then on, until the socket is closed. Thread: any.
package final class ControlSocket: Sendable {
    package typealias Answer = @Sendable (_ request: String) async -> String

    private let path: String
    private let listener: Int32
    private let inode: UInt64
    /// The connections; `nil` when it is closed.
    private let clients = Mutex<Set<Int32>?>([])

    /// What waits for the clients that watch: 64 lines each. Of one that does not read, the oldest are dropped.
    private let watchers = Mutex<[Int32: (lines: Mailbox<String>, queue: SerialQueue)]>([:])

    /// Signalled when a client leaves.
    private let departure = MonotonicSignal()

    private static let clientLimit = 16
    private static let lineLimit = 4096

    /// Creates the socket. Clients can connect, and wait until ``serve(_:)``.
    ///
    /// - Throws: ``PipelineError`` if another process has the socket, or there is another file.
    package init(_ path: String) throws(PipelineError) {
        let listener = try Self.socket()
        // The socket's file gets the mode of the descriptor.
        fchmod(listener, 0o600)
        var isBound = try Self.withAddress(path) { bind(listener, $0, $1) } == 0
        if !isBound, errno == EADDRINUSE, try Self.isAbandoned(path) {
            unlink(path)
            isBound = try Self.withAddress(path) { bind(listener, $0, $1) } == 0
        }
        guard isBound, listen(listener, 16) == 0 else {
            let error = errno
            Glibc.close(listener)
            throw PipelineError(
                error == EADDRINUSE ? .alreadyExists : .resourceFailed,
                message: "cannot create the socket \"\(path)\": "
                    + (error == EADDRINUSE
                        ? "another program uses it, or it is a file" : systemErrorText(error)),
                advice: error == ENOENT ? "create the directory" : "another path")
        }
        var status = stat()
        lstat(path, &status)
        (self.path, self.listener) = (path, listener)
        inode = UInt64(status.st_ino)
    }

    deinit { Glibc.close(listener) }

    /// Answers requests until ``close()``.
    package func serve(_ answer: @escaping Answer) {
        _ = startThread("control") { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard clients.withLock({ $0 != nil }) else {
                    if client >= 0 { Glibc.close(client) }
                    return
                }
                // Without a free descriptor, a client waits until another one leaves.
                guard client >= 0 else {
                    _ = departure.wait(for: .seconds(1))
                    continue
                }
                take(client, answer)
            }
        }
    }

    /// Passes a line to the clients that watch. Returns at once.
    package func publish(_ line: String) {
        for watcher in watchers.withLock({ $0.values.map(\.lines) }) { watcher.post(line) }
    }

    /// Removes the socket, and disconnects all clients. Clients that watch first get the lines that wait for them.
    package func close() {
        let open = clients.exchange(nil)
        guard let open else { return }
        for watcher in watchers.withLock({ $0.values.map { $0 } }) { watcher.queue.sync {} }
        shutdown(listener, Int32(SHUT_RDWR))
        for client in open { shutdown(client, Int32(SHUT_RDWR)) }
        var status = stat()
        if lstat(path, &status) == 0, UInt64(status.st_ino) == inode { unlink(path) }
    }

    private func take(_ client: Int32, _ answer: @escaping Answer) {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        Self.limit(client, SO_SNDTIMEO, to: .seconds(5).asDefaultDeadline)
        let hasRoom = clients.withLock { clients in
            guard let count = clients?.count, count < Self.clientLimit else { return false }
            clients?.insert(client)
            return true
        }
        guard hasRoom else {
            _ = Self.send(#"{"error":"too many connections","ok":false}"#, to: client)
            Glibc.close(client)
            return
        }
        let isServed = startThread("control") { [self] in
            converse(with: client, answer)
            end(client)
        }
        if !isServed { end(client) }
    }

    private func end(_ client: Int32) {
        // Closed with the lock held, so that `close()` shuts no other file down.
        clients.withLock { clients in
            clients?.remove(client)
            Glibc.close(client)
        }
        departure.signal()
    }

    private func converse(with client: Int32, _ answer: @escaping Answer) {
        var rest: [UInt8] = []
        while let line = Self.readLine(from: client, &rest) {
            if line == "watch" { return watch(client) }
            let text = Once<String>()
            Task { text.resume(await answer(line)) }
            guard let text = text.wait(), Self.send(text, to: client) else { return }
        }
        if rest.count > Self.lineLimit {
            _ = Self.send(#"{"error":"the line is too long","ok":false}"#, to: client)
        }
    }

    private func watch(_ client: Int32) {
        let queue = SerialQueue(label: "mediabridge.control.watch")
        let lines = Mailbox<String>(depth: 64, on: queue, of: .system) { line in
            // A client that does not read any more is not sent anything more.
            if !Self.send(line, to: client) { shutdown(client, Int32(SHUT_RDWR)) }
        }
        lines.post(#"{"ok":true}"#)
        watchers.withLock { $0[client] = (lines, queue) }
        var rest: [UInt8] = []
        while Self.readLine(from: client, &rest) != nil {}
        watchers.withLock { $0[client] = nil }
        queue.sync {}
    }

    // MARK: Clients

    /// Prints what a recording publishes, until it ends.
    ///
    /// - Parameter onLine: Called with each line; the first is the answer to the request.
    /// - Returns: The answer.
    /// - Throws: ``PipelineError`` if nothing listens there, or does not answer.
    package static func watch(
        _ path: String, onLine: (String) -> Void
    ) throws(PipelineError) -> String {
        let client = try connected(to: path)
        defer { Glibc.close(client) }
        var rest: [UInt8] = []
        guard send("watch", to: client), let answer = readLine(from: client, &rest) else {
            throw noAnswer(path)
        }
        onLine(answer)
        while let line = readLine(from: client, &rest, limit: 1 << 24) { onLine(line) }
        return answer
    }

    private static func connected(to path: String) throws(PipelineError) -> Int32 {
        let client = try socket()
        guard try withAddress(path, { connect(client, $0, $1) }) == 0 else {
            let error = PipelineError(
                .notFound, cannot: "connect to \"\(path)\"",
                advice: "start gst-bridge run or record with --control \(path)")
            Glibc.close(client)
            throw error
        }
        return client
    }

    private static func noAnswer(_ path: String) -> PipelineError {
        PipelineError(
            .streamFailed, message: "\"\(path)\" did not answer",
            advice: "look whether gst-bridge still runs")
    }

    /// Sends a request to a socket.
    ///
    /// - Returns: The answer.
    /// - Throws: ``PipelineError`` if nothing listens there, or does not answer within a minute; if the
    ///   request has more than one line.
    package static func ask(_ path: String, _ request: String) throws(PipelineError) -> String {
        guard !request.utf8.contains(UInt8(ascii: "\n")) else {
            throw PipelineError(
                .badValue, message: "a request is one line: \(request.debugDescription)",
                advice: "a name without line breaks")
        }
        let client = try connected(to: path)
        defer { Glibc.close(client) }
        limit(client, SO_RCVTIMEO, to: .seconds(60).asDefaultDeadline)
        var rest: [UInt8] = []
        guard send(request, to: client),
            let answer = readLine(from: client, &rest, limit: 1 << 24)
        else { throw noAnswer(path) }
        return answer
    }

    private static func socket() throws(PipelineError) -> Int32 {
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw PipelineError(cannot: "create a socket")
        }
        return descriptor
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(PipelineError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let size = MemoryLayout.size(ofValue: address.sun_path)
        guard (1..<size).contains(path.utf8.count) else {
            throw PipelineError(
                .badValue,
                message: "the path of a socket has 1 to \(size - 1) bytes: \"\(path)\"",
                advice: "a shorter path")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Whether a path is that of a socket whose process has ended.
    package static func isAbandoned(_ path: String) throws(PipelineError) -> Bool {
        let client = try socket()
        defer {
            Glibc.close(client)
            errno = EADDRINUSE
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
        return try withAddress(path) { connect(client, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func limit(_ client: Int32, _ option: Int32, to limit: Duration) {
        var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        setsockopt(client, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Returns the next line without its end; `nil` at the end, or if it is too long.
    ///
    /// - Parameter rest: What was read after the line before.
    private static func readLine(
        from client: Int32, _ rest: inout [UInt8], limit: Int = lineLimit
    ) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")), end <= limit {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeFirst(end + 1)
                return line.last == "\r" ? String(line.dropLast()) : line
            }
            guard rest.count <= limit else { return nil }
            let count = recv(client, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            rest += bytes[..<count]
        }
    }

    private static func send(_ line: String, to client: Int32) -> Bool {
        var bytes = Array("\(line)\n".utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
