import Foundation
import Synchronization
import TestSupport

/// An HTTP server on 127.0.0.1 with scripted responses, including malformed ones.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
        /// Field names are lower-case.
        let fields: [String: String]
        let body: String
    }
    enum Reply: Sendable {
        /// The raw status line, fields and body.
        case text(String)
        /// The head, followed by a body larger than any client accepts.
        case flood
        /// No response; the connection stays open until the client closes it.
        case silence
        /// Closes the connection without a response.
        case cut
    }

    struct NoPort: Error {}

    let port: Int
    private let descriptor: Int32
    private let seen = Mutex<[Request]>([])

    /// - Parameter answer: Called for each request, on one of the server's threads.
    init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard descriptor >= 0, status == 0, listen(descriptor, 16) == 0 else {
            throw NoPort()
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            // Only this thread closes the descriptor. If another thread closed it between two calls of
            // accept, the second call could hit another server that has reused the number.
            defer { close(descriptor) }
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard connection >= 0 else { return }
                Thread.detachNewThread { [weak self] in
                    Self.serve(connection, answer) { request in
                        self?.seen.withLock { $0.append(request) }
                    }
                }
            }
        }
    }

    /// Ends the server: the accepting thread wakes up and exits.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { seen.withLock { $0 } }

    private static func serve(
        _ connection: Int32, _ answer: (Request) -> Reply, note: (Request) -> Void
    ) {
        defer { close(connection) }
        // A timeout limits each connection to 20 s of silence.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard let request = read(connection) else { return }
        note(request)
        switch answer(request) {
        case .text(let text): _ = send(connection, text)
        case .flood:
            guard send(connection, "HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\n\r\n")
            else { return }
            let block = String(repeating: "a", count: 65536)
            for _ in 0..<1000 { guard send(connection, block) else { return } }
        case .silence:
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
        case .cut: return
        }
    }

    private static func send(_ connection: Int32, _ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    private static func read(_ connection: Int32) -> Request? {
        var data: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            if let request = parse(data) { return request }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            data.append(contentsOf: chunk[..<count])
        }
    }

    private static func parse(_ data: [UInt8]) -> Request? {
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let body = String(text[end.upperBound...])
        guard body.utf8.count >= Int(fields["content-length"] ?? "0") ?? 0 else { return nil }
        return Request(method: String(words[0]), path: String(words[1]), fields: fields, body: body)
    }
}

extension ScriptedServer.Reply {
    static func response(
        _ status: String, _ fields: [String] = [], body: String = ""
    ) -> ScriptedServer.Reply {
        let head = ["HTTP/1.1 \(status)"] + fields + ["Content-Length: \(body.utf8.count)", "", ""]
        return .text(head.joined(separator: "\r\n") + body)
    }

    static let answer = ScriptedServer.Reply.response(
        "201 Created",
        ["Content-Type: application/sdp", "Location: /whip/abc", "ETag: \"tag1\""],
        body: Offers.answer)
}
