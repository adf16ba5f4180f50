import Foundation
import HTTPTypes
import MediaBridge
import MediaBridgeWebRTC
import TestSupport

/// Viewer sessions on one `WebRTCServer`, ended in every possible way.
struct ViewersComeAndGo {
    /// The behaviour of a viewer.
    enum Kind: CaseIterable {
        /// Plays, and ends its session with a DELETE.
        case polite
        /// Plays, and closes its connection without a request.
        case hangingUp
        /// Sends an offer, and ends its session before it connects.
        case hasty
        /// Sends invalid offers and candidates.
        case garbage
        /// Sends an offer, and nothing more.
        case absent
        /// Plays, and is killed.
        case killed
    }
    /// The first twenty viewers, which arrive at the same time.
    private static let early: [Kind] =
        [.polite, .hangingUp, .hasty, .garbage].flatMap { [$0, $0, $0, $0, $0] }
    private static let late: [Kind] = early.dropLast(4) + [.absent, .absent, .absent, .killed]

    private let server: WebRTCServer
    private let engine: MediaEngine

    /// - Parameter forgets: Whether the server ends the sessions of absent viewers after nine seconds.
    init(forgets: Bool) {
        var configuration = WebRTCServer.Configuration()
        configuration.takesSenders = false
        configuration.maximumConnecting = 100
        configuration.connection.localAddresses = ["127.0.0.1"]
        // Absent viewers time out before the killed viewers do.
        configuration.connection.connectTimeout = .seconds(forgets ? 9 : 300)
        server = WebRTCServer(configuration: configuration)
        engine = MediaEngine(transport: server)
    }

    /// Admits two viewers of each kind. The server closes the remaining sessions.
    func runOnce() async throws {
        try await start()
        try await admit(Kind.allCases + Kind.allCases)
        try await end()
    }

    /// Prints the resources of the process after the first twenty viewers, and after all viewers, once
    /// their sessions have ended.
    func run(rounds: Int) async throws {
        try await start()
        try await admit(Self.early)
        try await waitUntilEmpty()
        await ProcessReport.say("early")
        for _ in 0..<rounds { try await admit(Self.late) }
        try await waitUntilEmpty()
        await ProcessReport.say("late")
        try await end()
    }

    private func end() async throws {
        try await engine.end()
        await ProcessReport.waitForHandshakes()
    }

    private func start() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=15/1 ! "
                + "appsink name=video audiotestsrc is-live=true ! audioconvert ! appsink name=audio"
        )
        let audio = source.audio
        try await engine.setVideoSource(source)
        if let audio { try await engine.setAudioSource(audio) }
        try await engine.joinChannel("share", userID: "host")
    }

    private func admit(_ kinds: [Kind]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in kinds { group.addTask { try await visit(kind) } }
            try await group.waitForAll()
        }
    }

    /// Polls, because no event signals the end of a session that never connected.
    private func waitUntilEmpty() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !server.viewers.isEmpty {
            guard .now < end else { throw ProbeFailure("left: \(server.viewers)") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func visit(_ kind: Kind) async throws {
        switch kind {
        case .garbage: return try await sendGarbage()
        case .killed: return try await kill()
        default: break
        }
        let viewer = Viewer()
        var configuration = PeerConnection.Configuration()
        configuration.localAddresses = ["127.0.0.1"]
        let peer = PeerConnection(.receiver, configuration: configuration, observer: viewer)
        let reply = try await post(peer.offer())
        if kind == .polite || kind == .hangingUp {
            try await peer.accept(answer: reply.answer)
            await viewer.units.wait { $0 >= 5 }
        }
        if kind == .polite || kind == .hasty { try await request(.delete, reply.path, status: 200) }
        await peer.close()
    }

    private func sendGarbage() async throws {
        try await request(.post, "/whep", body: "v=0\r\nm=video 9 nonsense", status: 400)
        try await request(.post, "/whep", body: "", status: 400)
        try await request(.delete, "/whep/0123456789abcdef", status: 404)
        let peer = PeerConnection(.receiver, observer: Viewer())
        let offer = try await peer.offer()
        await peer.close()
        try await request(.post, "/whep", body: String(offer.prefix(offer.count / 3)), status: nil)
        let path = try await post(offer).path
        try await request(
            .patch, path, type: "application/trickle-ice-sdpfrag", body: "a=candidate:", status: nil
        )
        try await request(
            .patch, path, type: "application/trickle-ice-sdpfrag", body: "\u{0}\u{1}", status: 400)
        try await request(.delete, path, status: 200)
    }

    /// Kills a viewer in a separate process, which thus sends no goodbye.
    private func kill() async throws {
        let (child, input) = try ProgramInput.start(
            Tool.built("CallProbe"), ["vanishing-viewer"],
            // Lateness is not under test, so deadlines are extended.
            environment: ["GST_TRACERS": "", "GST_DEBUG": "", "MEDIABRIDGE_DEADLINE_FACTOR": "5"])
        try await child.waitForOutput("\n")
        let answer = try await post(VanishingViewer.text(child.output)).answer
        try input.write(VanishingViewer.line(answer) + "\n")
        try await child.waitForOutput("plays")
        child.send(signal: SIGKILL)
        _ = try await child.end()
    }

    // MARK: Requests

    private func post(_ offer: String) async throws -> (path: String, answer: String) {
        let (response, body) = try await request(.post, "/whep", body: offer, status: 201)
        guard let path = response.headerFields[.location] else {
            throw ProbeFailure("no location: \(response)")
        }
        return (path, String(decoding: body, as: UTF8.self))
    }

    /// - Parameter status: The expected status; `nil` accepts any status.
    @discardableResult
    private func request(
        _ method: HTTPRequest.Method, _ path: String, type: String = "application/sdp",
        body: String = "", status: Int?
    ) async throws -> (HTTPResponse, [UInt8]) {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:8080", path: path)
        request.headerFields[.contentType] = type
        let reply = await server.respond(to: request, body: Array(body.utf8))
        guard status == nil || reply.0.status.code == status else {
            throw ProbeFailure(
                "\(method) \(path): \(reply.0.status) \(String(decoding: reply.1, as: UTF8.self))")
        }
        return reply
    }
}

/// Counts the encoded frames that a viewer receives.
final class Viewer: PeerConnectionObserver {
    let units = Observed(0)
    func stateChanged(_ state: PeerConnection.State) {}
    func receive(_ unit: EncodedVideoFrame) { units.change { $0 += 1 } }
}

/// A viewer that writes its offer and reads the answer, one line each, and plays until it is killed.
enum VanishingViewer {
    static func run() async throws {
        let viewer = Viewer()
        var configuration = PeerConnection.Configuration()
        configuration.localAddresses = ["127.0.0.1"]
        let peer = PeerConnection(.receiver, configuration: configuration, observer: viewer)
        writeLine(line(try await peer.offer()))
        guard let answer = readLine() else { throw ProbeFailure("no answer") }
        try await peer.accept(answer: text(answer))
        await viewer.units.wait { $0 >= 5 }
        writeLine("plays")
        await viewer.units.wait { _ in false }
    }

    /// Encodes a session description as one line; `text` decodes it.
    static func line(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    static func text(_ line: String) -> String {
        let data = Data(base64Encoded: line.trimmingCharacters(in: .whitespacesAndNewlines))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
