import Foundation
import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The commands `gst-bridge share` and `receive`, driven over HTTP.
@Suite(.hangGuard, .serialized) struct ServingCommandTests {
    private static let capture =
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=15/1"

    /// Runs a command until `body` returns; then Ctrl-C must end it cleanly.
    private func serve(
        _ arguments: [String], _ body: (ChildProcess, URL) async throws -> Void
    ) async throws -> ChildProcess.Result {
        try await withChildProcess(
            Tool.gstBridge, arguments + ["--report", "json"], environment: ["DISPLAY": ""]
        ) { process in
            try await process.waitForErrors(to: "print an address") { $0.contains("http://") }
            let words = process.errors.split(whereSeparator: \.isWhitespace)
            let address = try #require(words.first { $0.hasPrefix("http://") })
            try await body(process, try #require(URL(string: String(address))))
            process.send(signal: SIGINT)
            let result = try await process.end()
            #expect(result.status == 0, "\(result.errors)")
            return result
        }
    }

    private func get(_ url: URL, _ path: String) async throws -> (status: Int, text: String) {
        let target = try #require(URL(string: path, relativeTo: url))
        let (data, response) = try await URLSession.shared.data(from: target)
        let status = try #require(response as? HTTPURLResponse).statusCode
        return (status, String(decoding: data, as: UTF8.self))
    }

    private func endpoint(_ url: URL, _ path: String) throws -> String {
        try #require(URL(string: path, relativeTo: url)).absoluteString
    }

    @Test func viewerReceivesTheSharedMedia() async throws {
        let result = try await serve(
            ["share", "--capture", Self.capture, "--listen", "127.0.0.1:0", "--codec", "vp8"]
        ) { _, url in
            #expect(try await get(url, "/").text.contains("<video"))
            #expect(try await get(url, "/whip").status == 404)
            let viewer = Viewer()
            let connection = PeerConnection(.receiver, observer: viewer)
            let offer = try await connection.offer()
            let session = try await SignallingClient(endpoint(url, "/whep")).post(offer: offer)
            try await connection.accept(answer: session.answer)
            await viewer.units.wait { $0.count >= 5 }
            let units = viewer.units.value
            #expect(units.first?.isKeyFrame == true)
            #expect(units.allSatisfy { $0.codec == .vp8 })
            await session.end()
            await connection.close()
            #expect(try await get(url, session.resource?.path ?? "").status == 405)
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.ended == "interrupt")
        #expect(report.outputs["viewers"]?.frames ?? 0 >= 5)
    }

    @Test func reorderedFramesAreReencodedForViewers() async throws {
        let capture =
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1 "
            + "! x264enc bframes=2 b-adapt=false key-int-max=15 threads=1 ! h264parse"
        let result = try await serve(
            ["share", "--capture", capture, "--listen", "127.0.0.1:0"]
        ) { process, url in
            let viewer = Viewer()
            let connection = PeerConnection(.receiver, observer: viewer)
            let offer = try await connection.offer()
            let session = try await SignallingClient(endpoint(url, "/whep")).post(offer: offer)
            try await connection.accept(answer: session.answer)
            // Without re-encoding, only the source's keyframes would arrive.
            await viewer.units.wait { $0.count { !$0.isKeyFrame } >= 10 }
            let times = viewer.units.value.compactMap(\.runningTime)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            try await process.waitForErrors(to: "say that it encodes anew") {
                $0.contains("bframes=0")
            }
            await session.end()
            await connection.close()
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.ended == "interrupt")
    }

    /// A camera with sound that reboots: viewers stay connected, and see it again.
    @Test func aSharedCameraIsRestarted() async throws {
        let port = try FreePort.tcp()
        let video =
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=15/1 "
            + "! x264enc tune=zerolatency key-int-max=15 ! rtph264pay name=pay0 pt=96 config-interval=1 "
            + "audiotestsrc is-live=true ! opusenc ! rtpopuspay name=pay1 pt=97"
        let camera = try await RTSPCamera(port: port, video)
        let source =
            "rtspsrc location=\(RTSPCamera.url(port: port)) protocols=tcp latency=100 name=r "
            + "r. ! rtph264depay ! h264parse ! appsink name=video r. ! rtpopusdepay ! appsink name=audio"
        let result = try await serve(
            ["share", "--restart", "--capture", source, "--listen", "127.0.0.1:0"]
        ) { process, url in
            let viewer = Viewer()
            let connection = PeerConnection(.receiver, observer: viewer)
            let offer = try await connection.offer()
            let session = try await SignallingClient(endpoint(url, "/whep")).post(offer: offer)
            try await connection.accept(answer: session.answer)
            await viewer.units.wait { $0.count >= 5 }
            try await camera.kill()
            try await process.waitForErrors(to: "restart the capture") {
                $0.contains("restarting the capture: ")
            }
            let before = viewer.units.value.count
            let again = try await RTSPCamera(port: port, video)
            try await process.waitForErrors(to: "say that the camera is back") {
                $0.contains("the capture was restarted")
            }
            await viewer.units.wait { $0.count >= before + 15 }
            await session.end()
            await connection.close()
            try await again.kill()
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.ended == "interrupt")
    }

    @Test func aSenderIsRecorded() async throws {
        try await withTemporaryDirectory { directory in
            let result = try await serve(
                [
                    "receive", "--record", directory.path, "--listen", "127.0.0.1:0", "--token",
                    "tok",
                ]
            ) { process, url in
                let path = "/whip?name=anna/../x"
                let wrong = await #expect(throws: PipelineError.self) {
                    let client = try SignallingClient(endpoint(url, "/whip"), token: "wrong")
                    _ = try await client.post(offer: Offers.offer(direction: "sendonly"))
                }
                #expect(wrong?.code == .unauthorized)
                #expect(try await get(url, path).status == 405)
                let sender = Sender()
                let connection = PeerConnection(
                    .sender, .init(video: [.h264], audio: []), observer: sender)
                let offer = try await connection.offer()
                let client = try SignallingClient(endpoint(url, "/whip?name=anna"), token: "tok")
                let session = try await client.post(offer: offer)
                try await connection.accept(answer: session.answer)
                await sender.isConnected.wait { $0 }
                let source = try PipelineVideoSource(
                    "videotestsrc is-live=true num-buffers=20 ! video/x-raw,width=160,height=120,"
                        + "framerate=15/1 ! x264enc tune=zerolatency key-int-max=5 threads=1 ! "
                        + "h264parse")
                let feed = Feed(connection)
                source.consumer = feed
                _ = try source.shouldInitialize()
                try source.shouldStart()
                await feed.isOver.wait { $0 }
                try source.shouldStop()
                try source.shouldDispose()
                await session.end()
                await connection.close()
                try await process.waitForErrors(to: "tell that anna has stopped sending") {
                    $0.contains("anna has stopped sending")
                }
            }
            let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
            let file = try #require(report.files?.first)
            #expect(file.path.contains("/anna-"))
            // It starts with the first keyframe after the start of the recorder, at an unpredictable
            // time.
            #expect((1...20).contains(file.frames), "\(file.frames)")
            let probe = try await MediaProbe(of: file.path)
            #expect(probe.video?.codec == "h264")
            #expect(probe.video?.frames == file.frames)
        }
    }

    @Test func servesOverAUnixSocket() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.path + "/share.sock"
            let arguments = ["share", "--capture", Self.capture, "--listen", "unix:\(path)"]
            for _ in 0..<2 {
                try await withChildProcess(
                    Tool.gstBridge, arguments, environment: ["DISPLAY": ""]
                ) { process in
                    try await process.waitForErrors(to: "listen") { $0.contains("watch at unix:") }
                    #expect(FileManager.default.fileExists(atPath: path))
                    // A stale socket of a killed process does not block the next one.
                    process.send(signal: SIGKILL)
                    _ = try await process.end()
                }
            }
        }
    }

    private static let wrongUsage: [(line: String, status: Int32)] = [
        ("share --listen nowhere", 64), ("share --listen 127.0.0.1:99999", 64),
        ("share --listen host.example:80", 64), ("share --codec av1", 64),
        ("share --open --token a", 64), ("share --token ä", 64), ("share --viewers 0", 64),
        ("share --turn host", 64), ("share --capture nosuchelement", 1), ("receive", 64),
        ("receive --record /dev/null/dir", 1), ("receive --output nosuchelement", 1),
    ]

    @Test(arguments: wrongUsage) func wrongUsageIsReported(line: String, status: Int32) async throws
    {
        let arguments = line.split(separator: " ").map(String.init)
        let result = try await Tool.run(Tool.gstBridge, arguments)
        #expect(result.status == status, "\(result.errors)")
        #expect(!result.errors.isEmpty)
        #expect(result.output.isEmpty)
    }

    @Test func addressInUseIsReported() async throws {
        let listener = try LocalListener()
        let result = try await Tool.run(
            Tool.gstBridge,
            ["share", "--capture", Self.capture, "--listen", "127.0.0.1:\(listener.port)"])
        #expect(result.status == 1)
        #expect(result.errors.contains("Address already in use"))
    }

    @Test func remoteClientsNeedATokenByDefault() async throws {
        let arguments = ["share", "--capture", Self.capture, "--listen", ":0"]
        _ = try await serve(arguments) { process, url in
            #expect(process.errors.contains("/#token="))
            let client = try SignallingClient(endpoint(url, "/whep"))
            let error = await #expect(throws: PipelineError.self) {
                _ = try await client.post(offer: Offers.offer())
            }
            #expect(error?.code == .unauthorized)
        }
        _ = try await serve(arguments + ["--open", "--host-name", "meet.example"]) { process, url in
            #expect(!process.errors.contains("token"))
            let port = try UInt16(#require(url.port))
            let own = try await Tool.run("hostname", []).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            for (host, status) in [
                ("evil.example", 421), ("meet.example", 200), (own, 200), ("localhost", 200),
            ] {
                let answer = try await withCheckedThrowingContinuation { continuation in
                    Thread {
                        continuation.resume(
                            with: Result {
                                let connection = try RawConnection(to: port)
                                connection.write("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                                return connection.read()
                            })
                    }.start()
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(host): \(answer.prefix(40))")
            }
        }
    }

    @Test(arguments: ["0.0.0.0:0", "[::]:0", ":0"])
    func thePrintedAddressesCanBeOpened(listen: String) async throws {
        _ = try await serve(["share", "--capture", Self.capture, "--listen", listen]) {
            process, _ in
            // The last address that the command prints.
            try await process.waitForErrors(to: "print all addresses") {
                $0.contains(/127\.0\.0\.1:.*\n/)
            }
            let open = """
                import sys, urllib.request
                for address in sys.argv[1:]: urllib.request.urlopen(address.split("#")[0], timeout=300)
                """
            let addresses = process.errors.split(whereSeparator: \.isWhitespace)
                .filter { $0.hasPrefix("http://") }.map(String.init)
            #expect(!addresses.contains { $0.contains("0.0.0.0") || $0.contains("[::]") })
            try await Tool.check("python3", ["-c", open] + addresses)
        }
    }

    @Test func sharingEndsAtTheEndOfTheFile() async throws {
        let result = try await Tool.run(
            Tool.gstBridge,
            [
                "share", "--capture",
                "videotestsrc num-buffers=5 ! video/x-raw,width=160,height=120,framerate=15/1",
                "--listen", "127.0.0.1:0", "--report", "json",
            ])
        #expect(result.status == 0, "\(result.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.ended == "eos")
        #expect(report.captures["video"]?.frames == 5)
    }

    private struct Report: Decodable {
        struct Counts: Decodable {
            let frames: Int
            let dropped: Int
        }
        struct File: Decodable {
            let path: String
            let frames: Int
        }
        let captures: [String: Counts]
        let outputs: [String: Counts]
        let files: [File]?
        let ended: String
    }
}

private final class Viewer: PeerConnectionObserver {
    let units = Observed<[EncodedVideoFrame]>([])
    func stateChanged(_ state: PeerConnection.State) {}
    func receive(_ unit: EncodedVideoFrame) { units.change { $0.append(unit) } }
}

private final class Sender: PeerConnectionObserver {
    let isConnected = Observed(false)
    func stateChanged(_ state: PeerConnection.State) {
        if state == .connected { isConnected.change { $0 = true } }
    }
}

/// Forwards the encoded frames of a source to a connection.
private final class Feed: VideoFrameConsumer {
    let isOver = Observed(false)
    private let connection: PeerConnection

    init(_ connection: PeerConnection) { self.connection = connection }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition { .dropped(.wrongBufferType) }
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { connection.send(unit) }
    func sourceDidEnd() { isOver.change { $0 = true } }
    func sourceDidFail(_ error: any Error) { isOver.change { $0 = true } }
}
