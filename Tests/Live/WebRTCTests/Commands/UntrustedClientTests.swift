import Foundation
import MediaBridgeWebRTC
import TestSupport
import Testing

/// Untrusted input on the port of `gst-bridge share`.
@Suite(.hangGuard) struct UntrustedClientTests {
    private static let host = "Host: 127.0.0.1\r\n"

    /// Runs the command until `body` returns; it must still serve its page, and end cleanly.
    ///
    /// - Parameter descriptors: The number of files that the program may open in addition to the inherited ones;
    ///   its reserve doubles the limit. `nil` for no such limit.
    private func serve(
        token: String? = nil, descriptors: Int? = nil,
        _ body: @escaping @Sendable (ChildProcess, UInt16) async throws -> Void
    ) async throws {
        let inherited = "$(ls /proc/self/fd | wc -l)"
        let limit = descriptors.map { "ulimit -n $((2 * (\(inherited) + \($0)))); " } ?? ""
        try await withChildProcess(
            "sh",
            [
                "-c", "\(limit)exec \"$0\" \"$@\"", Tool.gstBridge, "share", "--capture",
                "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=5/1",
                "--listen", "127.0.0.1:0",
            ] + (token.map { ["--token", $0] } ?? []), environment: ["DISPLAY": ""]
        ) { process in
            try await process.waitForErrors(to: "print an address") { $0.contains("http://") }
            let address = try #require(process.errors.firstMatch(of: /http:\/\/127.0.0.1:(\d+)/))
            let port = try #require(UInt16(address.1))
            try await body(process, port)
            let page = try await request(
                port, "GET / HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
            #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("<video"))
            process.send(signal: SIGINT)
            let result = try await process.end()
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    /// Sends text, and returns the whole response.
    private func request(_ port: UInt16, _ text: String) async throws -> String {
        try await blocking {
            let connection = try RawConnection(to: port)
            connection.write(text)
            return connection.readToEnd()
        }
    }

    /// Whether a program's memory has grown by less than 16 MiB. A sanitizer retains freed memory, so the check
    /// is skipped there.
    private func isFlat(_ process: ChildProcess, since before: Int) throws -> Bool {
        try Sanitizer.isActive || process.peakMemory - before < 16 << 20
    }

    private func blocking<R: Sendable>(
        _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try body() }) }.start()
        }
    }

    private static let floods = [
        "": "a", "GET /": "a", "GET / HTTP/1.1\r\nX: ": "a", "GET / HTTP/1.1\r\n": "X: 1\r\n",
        "GET / HTTP/1.1\r\nX": "x",
        "POST /whep HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x=": "a",
        "POST /whep HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n": "X: 1\r\n",
    ]

    /// Endless requests, oversized bodies, and a client that reads no responses.
    @Test func floodsAreCutOffWithoutMemoryGrowth() async throws {
        try await serve { process, port in
            let before = try process.peakMemory
            for (beginning, part) in Self.floods {
                let answer = try await blocking {
                    let connection = try RawConnection(to: port)
                    connection.write(beginning)
                    let text = String(repeating: part, count: 65536 / part.utf8.count)
                    connection.flood(with: text, atMost: 256 << 20)
                    return connection.readToEnd()
                }
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(beginning): \(answer)")
            }
            let head = "POST /whep HTTP/1.1\r\n\(Self.host)Content-Type: application/sdp\r\n"
            let announced = try await request(port, head + "Content-Length: 99999999999\r\n\r\n")
            #expect(announced.hasPrefix("HTTP/1.1 413 "), "\(announced)")
            let chunk = "10000\r\n" + String(repeating: "v", count: 65536) + "\r\n"
            let chunked = try await blocking {
                let connection = try RawConnection(to: port)
                connection.write(head + "Transfer-Encoding: chunked\r\n\r\n")
                connection.flood(with: chunk, atMost: 1 << 20)
                return connection.readToEnd()
            }
            #expect(chunked.hasPrefix("HTTP/1.1 413 "), "\(chunked)")
            try await blocking {
                let connection = try RawConnection(to: port)
                let one = "GET / HTTP/1.1\r\n\(Self.host)\r\n"
                let text = String(repeating: one, count: 2000)
                connection.flood(with: text, atMost: 64 << 20)
            }
            #expect(try isFlat(process, since: before))
        }
    }

    /// More silent connections than the limit: idle connections time out and make room for new ones.
    @Test func idleConnectionsTimeOut() async throws {
        try await serve { process, port in
            let connections = try await blocking {
                try (0..<400).map { number in
                    let connection = try RawConnection(to: port)
                    connection.write(["", "G", "GET / HTTP/1.1\r\n"][number % 3])
                    return connection
                }
            }
            let start = ContinuousClock.now
            try await blocking { for connection in connections { _ = connection.readToEnd() } }
            // The newest ones are not closed at once.
            #expect(.now - start > .seconds(5))
        }
    }

    /// Connections of one client do not block new ones: the longest-idle connection is closed.
    @Test func longestIdleConnectionIsClosedForANewOne() async throws {
        try await serve { _, port in
            let connections = try await blocking {
                try (0..<256).map { _ in
                    let connection = try RawConnection(to: port)
                    connection.write("GET /nothing HTTP/1.1\r\n\(Self.host)\r\n")
                    _ = connection.read()
                    return connection
                }
            }
            let page = try await request(
                port, "GET / HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
            #expect(page.hasPrefix("HTTP/1.1 200 "), "\(page)")
            let first = try #require(connections.first)
            #expect(try await blocking { first.read() }.isEmpty)
            let last = try #require(connections.last)
            let answer = try await blocking {
                last.write("GET /nothing HTTP/1.1\r\n\(Self.host)\r\n")
                return last.read()
            }
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(answer)")
        }
    }

    /// A body that arrives slowly is idle time: the connection makes room for new ones.
    @Test func slowRequestBodiesDoNotBlockNewConnections() async throws {
        try await serve { _, port in
            let connections = try await blocking {
                try (0..<256).map { _ in
                    let connection = try RawConnection(to: port)
                    connection.write(
                        "POST /whep HTTP/1.1\r\n\(Self.host)Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
                    )
                    // The server reads the body now.
                    _ = connection.read()
                    return connection
                }
            }
            let page = try await request(
                port, "GET / HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
            #expect(page.hasPrefix("HTTP/1.1 200 "), "\(page)")
            _ = connections
        }
    }

    /// A program that ran out of descriptors would be aborted by GLib.
    @Test func viewersBeyondTheDescriptorLimitAreRefused() async throws {
        let viewer = PeerConnection(
            .receiver, .init(audio: []), configuration: .loopback, observer: PeerCollector())
        let offer = try await viewer.offer()
        await viewer.close()
        let line = "POST /whep HTTP/1.1\r\n\(Self.host)Content-Type: application/sdp\r\n"
        let length = "Content-Length: \(offer.utf8.count)\r\nConnection: close\r\n\r\n"
        try await serve(descriptors: 100) { _, port in
            var answers: [String] = []
            while answers.count < 40, answers.last?.hasPrefix("HTTP/1.1 503 ") != true {
                answers.append(try await request(port, line + length + offer))
            }
            #expect(answers.first?.hasPrefix("HTTP/1.1 201 ") == true, "\(answers)")
            let refused = try #require(answers.last)
            #expect(refused.hasPrefix("HTTP/1.1 503 ") && refused.contains("Retry-After: "))
        }
    }

    @Test(arguments: ["POST /whep", "PATCH /whep/abc", "DELETE /whep/abc"])
    func aRequestWithoutATokenIsRefusedBeforeItsBody(line: String) async throws {
        try await serve(token: "secret") { _, port in
            for length in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
                let answer = try await blocking {
                    let connection = try RawConnection(to: port)
                    connection.write("\(line) HTTP/1.1\r\n\(Self.host)\(length)\r\n\r\n")
                    return connection.read()
                }
                #expect(answer.hasPrefix("HTTP/1.1 401 "), "\(answer)")
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1", [], 400), ("HTTP/1.1", ["127.0.0.1", "127.0.0.1"], 400),
        ("HTTP/1.1", ["127.0.0.1", "evil.example"], 400), ("HTTP/1.0", ["a", "b"], 400),
        ("HTTP/1.0", [], 200), ("HTTP/1.1", ["127.0.0.1"], 200),
    ])
    func requestNeedsOneHostHeader(version: String, hosts: [String], status: Int) async throws {
        try await serve { _, port in
            let fields = hosts.map { "Host: \($0)\r\n" }.joined()
            let answer = try await request(
                port, "GET / \(version)\r\n\(fields)Connection: close\r\n\r\n")
            #expect(answer.hasPrefix("\(version) \(status) "), "\(hosts): \(answer.prefix(40))")
        }
    }

    @Test func targetsInAbsoluteFormAreAccepted() async throws {
        try await serve { _, port in
            for (target, host, status) in [
                ("http://127.0.0.1:\(port)/", "127.0.0.1", 200),
                ("HTTP://localhost", "127.0.0.1", 200), ("http://localhost?a", "localhost", 200),
                ("http://127.0.0.1/nothing", "127.0.0.1", 404),
                ("http://evil.example/", "127.0.0.1", 421),
                ("http://127.0.0.1/", "evil.example", 200),
            ] {
                let answer = try await request(
                    port, "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(target): \(answer.prefix(40))")
            }
        }
    }

    @Test(arguments: ["100-continue", "100-Continue"])
    func serverAnswersExpect100Continue(expectation: String) async throws {
        try await serve { _, port in
            let answer = try await blocking {
                let connection = try RawConnection(to: port)
                connection.write(
                    "POST /whep HTTP/1.1\r\n\(Self.host)Expect: \(expectation)\r\nContent-Length: 1\r\n\r\n"
                )
                return connection.read()
            }
            #expect(answer.hasPrefix("HTTP/1.1 100 "), "\(answer)")
        }
    }

    @Test func requestsAreAnsweredInOrderAndGarbageIsRefused() async throws {
        try await serve { process, port in
            let requests = ["GET /", "HEAD /", "DELETE /", "GET /nothing"]
                .map { "\($0) HTTP/1.1\r\n\(Self.host)\r\n" }
            let text = try await blocking {
                let connection = try RawConnection(to: port)
                connection.write(requests.joined())
                connection.endWriting()
                return connection.readToEnd()
            }
            let codes = text.matches(of: #/HTTP/1\.1 (\d+) /#).map { String($0.1) }
            #expect(codes == ["200", "200", "405", "404"])
            let lengths = text.matches(of: #/Content-Length: (\d+)/#).map { String($0.1) }
            #expect(lengths[0] == lengths[1] && lengths[0] != "0", "\(lengths)")
            #expect(text.ranges(of: "<video").count == 1)
            let old = try await request(port, "GET /nothing HTTP/1.0\r\n\(Self.host)\r\n")
            #expect(old.hasPrefix("HTTP/1.0 404 ") && old.contains("Connection: close"), "\(old)")
            for text in Self.garbage {
                let answer = try await blocking {
                    let connection = try RawConnection(to: port)
                    connection.write(text)
                    connection.endWriting()
                    return connection.readToEnd()
                }
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1."), "\(text): \(answer)")
            }
        }
    }

    private static let garbage = [
        "\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "g e t / HTTP/1.1\r\n\r\n",
        "POST /whep HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\n X: folded\r\n\r\n", "GET / HTTP/1.1\r\n: no name\r\n\r\n",
        "POST /whep HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}",
        "GET /\u{ff}\u{0} HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ]
}
