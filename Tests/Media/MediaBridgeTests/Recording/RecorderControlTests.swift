import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Requests of one line each, and the socket that takes them.
@Suite("Recorder control", .hangGuard) struct RecorderControlTests {
    private struct Answer: Decodable {
        struct File: Decodable {
            struct Mark: Decodable {
                var name: String
                var seconds: Double
            }
            var path: String
            var frames: Int
            var marks: [Mark]?
        }
        var ok: Bool
        var error: String?
        var state: String
        var file: String?
        var frames: Int
        var files: [File]?

        init(_ text: String) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        }
    }

    private let frames = RecordedFrames()

    /// The second line would be another request.
    @Test func refusesARequestOfTwoLines() {
        let error = #expect(throws: PipelineError.self) {
            try ControlSocket.ask("/no/such/socket", "mark first\nstop")
        }
        #expect(error?.code == .badValue)
    }

    @Test func requestsControlTheRecorder() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.whenFull = .wait
            configuration.replay = .seconds(10)
            configuration.whenExists = .number
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            let control = RecorderControl(recorder)
            func ask(_ request: String) async throws -> Answer {
                try Answer(await control.answer(request))
            }
            func write(_ range: Range<Int>) async throws {
                for index in range { try await recorder.write(frames.picture(index)) }
            }
            #expect(try await ask("status").state == "idle")
            #expect(try await ask("mark early").error?.contains("not recording") == true)
            #expect(try await ask("pause").error?.contains("not recording") == true)
            #expect(try await ask("start").state == "recording")
            #expect(try await ask("start").ok == false)
            try await write(0..<30)
            _ = try await ask("mark  two words ")
            _ = try await ask("mark")
            #expect(try await ask("pause").state == "paused")
            try await write(30..<50)
            #expect(try await ask("resume").state == "recording")
            try await write(50..<60)
            #expect(try await ask("split").ok)
            try await write(60..<80)
            await recorder.wait(forReplay: 1.15)
            let replay = try await ask("replay 200ms")
            #expect(replay.files?.count == 1 && (replay.files?[0].frames ?? 0) >= 10)
            let stopped = try await ask("stop")
            #expect(stopped.state == "idle" && stopped.files?.map(\.frames) == [20])
            #expect(try await ask("start").ok)
            try await write(80..<90)
            for request in ["", "  ", "begin", "stop now", "replay soon", "START"] {
                let answer = try await ask(request)
                #expect(!answer.ok && answer.error != nil, "\(request)")
            }
            let report = try await recorder.stop()
            #expect(try await ask("status").state == "ended")
            #expect(report.files.map(\.frames) == [40, 20, 10])
            #expect(report.files[0].marks.map(\.name) == ["two words", "mark 1"])
            #expect(report.files.flatMap(\.marks).allSatisfy { $0.time == .milliseconds(1160) })
            #expect(control.replays.map(\.path) == replay.files?.map(\.path))
        }
    }

    // MARK: The socket

    @Test func socketIsPrivateToItsUserAndRemovedAtTheEnd() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("control")
            let socket = try ControlSocket(path)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
            #expect(throws: PipelineError.self) { try ControlSocket(path) }
            socket.serve { "<\($0)>" }
            #expect(try await Self.ask(path, "one") == "<one>")
            socket.close()
            #expect(stat(path, &status) != 0)
            await #expect(throws: PipelineError.self) { try await Self.ask(path, "two") }
        }
    }

    @Test func onlyTheSocketOfADeadProcessIsReplaced() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("control")
            _ = try await Tool.check(
                "python3",
                ["-c", "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path])
            let socket = try ControlSocket(path)
            socket.serve { $0 }
            #expect(try await Self.ask(path, "one") == "one")
            socket.close()
            let file = try directory.write("theirs", to: "file")
            #expect(throws: PipelineError.self) { try ControlSocket(file) }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
            let long = directory.file(String(repeating: "a", count: 120))
            #expect(throws: PipelineError.self) { try ControlSocket(long) }
            #expect(throws: PipelineError.self) { try ControlSocket(directory.file("none/socket")) }
        }
    }

    /// Clients that flood the socket, never read, send no line, or too long a one, do not keep
    /// others waiting.
    @Test func badClientsDoNotDisturbOthers() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("control")
            let socket = try ControlSocket(path)
            defer { socket.close() }
            socket.serve { String(repeating: "\($0) ", count: 100) }
            let script = """
                import select, socket, sys
                def client():
                    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); return s
                flood = client(); flood.setblocking(False)
                sent = 0
                try:
                    while sent < 50_000_000: sent += flood.send(b'status\\n' * 1000)
                except BlockingIOError: pass
                half = client(); half.send(b'sta')
                long = client(); long.send(b'x' * 5000)
                print(long.makefile().readline().strip())
                silent = [client() for _ in range(20)]
                refused = select.select(silent, [], [])[0]
                print(refused[0].makefile().readline().strip())
                for s in silent: s.close()
                half.send(b'tus\\n')
                print(half.makefile().readline().split()[0])
                """
            let output = try await Tool.check("python3", ["-c", script, path])
                .split(separator: "\n")
            #expect(output.first == #"{"error":"the line is too long","ok":false}"#)
            #expect(output.contains(#"{"error":"too many connections","ok":false}"#))
            #expect(output.last == "status")
            #expect(try await Self.ask(path, "after").hasPrefix("after after"))
        }
    }

    /// Off the thread pool, because it blocks.
    private static func ask(_ path: String, _ request: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ControlSocket.ask(path, request) })
            }
        }
    }
}
