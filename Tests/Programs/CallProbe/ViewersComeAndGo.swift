import Foundation
import HTTPTypes
import MediaBridge
import MediaBridgeWebRTC
import TestSupport

/// Sessions of viewers at one `WebRTCServer`, which end in every way.
struct ViewersComeAndGo {
    /// What a viewer does.
    enum Kind: CaseIterable {
        /// Plays, and ends its session.
        case polite
        /// Plays, and hangs up without a request.
        case hangingUp
        /// Offers, and ends its session before it is connected.
        case hasty
        /// Sends what is no offer and no candidate.
        case garbage
        /// Offers, and does nothing more.
        case absent
        /// Plays, and is killed.
        case killed
    }
    /// Of twenty viewers, who come at once.
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
        // The absent are forgotten while the killed are still missed.
        configuration.connection.connectTimeout = .seconds(forgets ? 9 : 300)
        server = WebRTCServer(configuration)
        engine = MediaEngine(transport: server)
    }

    /// Two viewers of each kind. The server closes the sessions that are left.
    func runOnce() async throws {
        try await start()
        try await admit(Kind.allCases + Kind.allCases)
        try await end()
    }

    /// Prints what the process holds after twenty viewers, and after all, when their sessions are over.
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

    /// Nothing tells the end of a session that was never connected.
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
        let reply = try await post(peer.offer(isComplete: true))
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
        let offer = try await peer.offer(isComplete: true)
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

    /// A viewer of a process of its own, which has no chance to say goodbye.
    private func kill() async throws {
        let (child, input) = try ProgramInput.start(
            Tool.built("CallProbe"), ["vanishing-viewer"],
            // Whatever may take long here, to be late is not what is tested.
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

    /// - Parameter status: What the server must answer; `nil` for anything but a success that is none.
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

/// Counts what a viewer gets.
final class Viewer: PeerConnectionObserver {
    let units = Observed(0)
    func stateChanged(_ state: PeerConnection.State) {}
    func receive(_ unit: EncodedVideoFrame) { units.change { $0 += 1 } }
}

/// A viewer that writes its offer and reads the answer, a line each, and plays until it is killed.
enum VanishingViewer {
    static func run() async throws {
        let viewer = Viewer()
        var configuration = PeerConnection.Configuration()
        configuration.localAddresses = ["127.0.0.1"]
        let peer = PeerConnection(.receiver, configuration: configuration, observer: viewer)
        writeLine(line(try await peer.offer(isComplete: true)))
        guard let answer = readLine() else { throw ProbeFailure("no answer") }
        try await peer.accept(answer: text(answer))
        await viewer.units.wait { $0 >= 5 }
        writeLine("plays")
        await viewer.units.wait { _ in false }
    }

    /// A description as one line, and back.
    static func line(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    static func text(_ line: String) -> String {
        let data = Data(base64Encoded: line.trimmingCharacters(in: .whitespacesAndNewlines))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
