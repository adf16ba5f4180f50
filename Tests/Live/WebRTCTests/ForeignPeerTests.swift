import Foundation
import TestSupport
import Testing

/// Third-party peers against each other on a test network: the baseline for the tests of this
/// library.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ForeignPeerTests {
    /// A connection between two ends of one page, with the camera's video and audio.
    private static let call = """
        (async configuration => {
          const stream = await navigator.mediaDevices.getUserMedia({video: true, audio: true})
          const [a, b] = [new RTCPeerConnection(configuration), new RTCPeerConnection(configuration)]
          a.onicecandidate = event => b.addIceCandidate(event.candidate)
          b.onicecandidate = event => a.addIceCandidate(event.candidate)
          const video = document.createElement('video')
          video.autoplay = video.muted = true
          document.body.append(video)
          b.ontrack = event => { video.srcObject = event.streams[0] }
          for (const track of stream.getTracks()) a.addTrack(track, stream)
          await a.setLocalDescription()
          await b.setRemoteDescription(a.localDescription)
          await b.setLocalDescription()
          await a.setRemoteDescription(b.localDescription)
          await rig.connected(b)
          Object.assign(globalThis, {video, connection: b})
          return (await rig.shown(video)) > 0
        })
        """

    /// One browser and one network serve three cases: a call without a server, one through a relay,
    /// and Janus rooms.
    @Test func browserReceivesItsOwnCamera() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                _ = try directory.write("<!doctype html><title>call</title>", to: "index.html")
                var configuration = Browser.Configuration()
                configuration.cameraFilm = try NumberedPictures(in: directory).writeFilm()
                configuration.acceptsAnyCertificate = true
                let server = try await PageServer(on: network.server, serving: directory)
                try await withBrowser(on: network.client, configuration) { browser in
                    try await call(browser, server, in: directory)
                    try await callByRelay(browser, server, network, in: directory)
                    guard JanusServer.isInstalled else { return }
                    try await meet(browser, server, network, isSecure: false)
                    try await meet(browser, server, network, isSecure: true)
                }
            }
        }
    }

    private func call(
        _ browser: Browser, _ server: PageServer, in directory: TemporaryDirectory
    ) async throws {
        let page = try await browser.open(server.origin)
        #expect(try await page.evaluate("\(Self.call)({})") == "true")
        let readings = try await page.evaluate(
            "rig.pictures(video, 10)", as: [NumberedPictures.Reading].self)
        #expect(readings.count == 10)
        #expect(readings.map(\.number).areInOrder())
        #expect(readings.allSatisfy { $0.mean < 12 }, "\(readings.map(\.mean))")
        let inbound = try await page.evaluate(
            "rig.inbound(connection).then(x => x.video.framesDecoded)", as: Int.self)
        #expect(inbound >= 10)
        let picture = directory.file("page.png")
        try await page.screenshot(to: picture)
        #expect(try directory.data("page.png").starts(with: [0x89, 0x50, 0x4e, 0x47]))
        await #expect(throws: ChildProcess.Failure.self) {
            try await page.evaluate("nobody.knows()")
        }
        try await page.close()
    }

    private func callByRelay(
        _ browser: Browser, _ server: PageServer, _ network: TestNetwork,
        in directory: TemporaryDirectory
    ) async throws {
        let turn = try await TurnServer(on: network.server, in: directory)
        let page = try await browser.open(server.origin)
        let (user, credential) = try await turn.user(named: "somebody")
        let servers = """
            {iceTransportPolicy: 'relay', iceServers: [{urls: '\(turn.url())',
             username: '\(user)', credential: '\(credential)'}]}
            """
        #expect(try await page.evaluate("\(Self.call)(\(servers))") == "true")
        let kinds = try await page.evaluate(
            """
            connection.getStats().then(all => [...all.values()]
              .filter(x => x.type == 'local-candidate').map(x => x.candidateType))
            """, as: [String].self)
        #expect(Set(kinds) == ["relay"])
        try await page.close()
    }

    /// Two users of one page in a room.
    private func meet(
        _ browser: Browser, _ server: PageServer, _ network: TestNetwork, isSecure: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = JanusServer.Configuration()
            configuration.rooms = [.init("meeting")]
            configuration.rooms[0].pin = "1234"
            configuration.rooms[0].requiresPrivateID = true
            if isSecure {
                configuration.certificate = try await TestCertificate(
                    for: network.server.address, in: directory)
                configuration.tokenSecret = "secret"
                configuration.rooms[0].requiresToken = true
            }
            let janus = try await JanusServer(on: network.server, in: directory, configuration)
            let core = try await configuration.token(of: "janus", "janus.plugin.videoroom")
            let room = try await configuration.token(
                of: "janus.plugin.videoroom", "room=meeting")
            let page = try await browser.open(server.origin)
            let readings = try await page.evaluate(
                """
                (async () => {
                  const common = {room: 'meeting', pin: '1234', token: \(room.javaScript)}
                  const core = {token: \(core.javaScript)}
                  globalThis.ann = await rig.janus('\(janus.url)', core)
                  const stream = await navigator.mediaDevices.getUserMedia({video: true, audio: true})
                  const me = await ann.join({...common, id: 'ann'})
                  await me.publish(stream, {videocodec: 'h264'})
                  const bob = await rig.janus('\(janus.url)', core)
                  const he = globalThis.he = await bob.join({...common, id: 'bob'})
                  const seen = await bob.watch({...common, feed: he.publishers[0].id, private_id: he.private_id})
                  return rig.pictures(seen.video, 10)
                })()
                """, as: [NumberedPictures.Reading].self)
            #expect(readings.count == 10)
            #expect(readings.map(\.number).areInOrder())
            // The browser may show a grey picture before the first decoded one.
            #expect(readings.dropFirst().allSatisfy { $0.mean < 20 }, "\(readings.map(\.mean))")
            await #expect(throws: ChildProcess.Failure.self) {
                try await page.evaluate(
                    "ann.join({room: 'meeting', pin: '4321', token: \(room.javaScript)})")
            }
            try await janus.kill()
            try await janus.start()
            let again = try await page.evaluate(
                "rig.janus('\(janus.url)', {token: \(core.javaScript)}).then(x => typeof x.join)")
            #expect(again == "\"function\"")
            try await page.close()
            try await janus.kill()
        }
    }

    @Test func browserAndAiortcPlayMediaFromAiortc() async throws {
        try await withTestNetwork { network in
            try await withBrowser(on: network.client) { browser in
                for (codec, port) in [("H264", 8000), ("VP8", 8001)] {
                    try await play(codec, port, browser, network)
                }
            }
            var configuration = AiortcPeer.Configuration()
            configuration.token = "another"
            _ = try await AiortcPeer.serving(on: network.server, port: 8002, configuration)
            configuration.token = nil
            let refused = try await AiortcPeer(
                .play("http://\(network.server.address):8002/whep"), on: network.client,
                configuration)
            #expect(try await refused.report().error == "HTTP 401")
        }
    }

    private func play(
        _ codec: String, _ port: Int, _ browser: Browser, _ network: TestNetwork
    ) async throws {
        var configuration = AiortcPeer.Configuration()
        configuration.token = "a token"
        configuration.codec = codec
        configuration.pictures = 10
        let server = try await AiortcPeer.serving(on: network.server, port: port, configuration)
        let sender = try await AiortcPeer(
            .send("\(server.url)/whip"), on: network.client, configuration)
        try await server.peer.waitUntilEnough()
        configuration.sound = 1
        let player = try await AiortcPeer(
            .play("\(server.url)/whep"), on: network.client, configuration)
        let played = try await player.report()
        #expect(played.error == nil)
        // The report comes a moment later, when more packets have arrived.
        #expect(played.pictures >= 10)
        #expect(played.sound > 0)
        #expect(played.mean < 6)
        let page = try await browser.open("about:blank")
        try await page.evaluate(WhepPage.play("\(server.url)/whep", token: "a token"))
        let readings = try await page.evaluate(
            "rig.pictures(video, 5)", as: [NumberedPictures.Reading].self)
        #expect(readings.count == 5)
        #expect(readings.allSatisfy { $0.mean < 6 }, "\(readings.map(\.mean))")
        try await page.close()
        let sent = try await sender.stop()
        #expect(sent.error == nil)
        #expect(sent.pictures >= 10)
        let came = try await server.peer.stop()
        #expect(came.pictures >= 10)
    }

    @Test func aWhipClientSendsToAiortc() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                var configuration = AiortcPeer.Configuration()
                configuration.pictures = 10
                let server = try await AiortcPeer.serving(on: network.server, configuration)
                let pictures = try NumberedPictures(in: directory)
                let client = try await WhipClient(
                    to: "\(server.url)/whip", video: WhipClient.h264(pictures.source),
                    audio: WhipClient.tone, on: network.client, in: directory, ["--no-trickle"])
                try await server.peer.waitUntilEnough()
                let came = try await server.peer.stop()
                #expect(came.error == nil)
                #expect(came.pictures >= 10)
                #expect(came.mean < 6)
                client.process.send(signal: SIGKILL)
                _ = try await client.process.end()
            }
        }
    }
}

extension String? {
    /// In JavaScript's notation.
    fileprivate var javaScript: String { map { "'\($0)'" } ?? "undefined" }
}

/// A page that plays over WHEP.
enum WhepPage {
    /// JavaScript that shows the stream in `video`, and resolves when there is a picture.
    static func play(_ url: String, token: String) -> String {
        """
        (async () => {
          const connection = new RTCPeerConnection({bundlePolicy: 'max-bundle'})
          for (const kind of ['video', 'audio']) connection.addTransceiver(kind, {direction: 'recvonly'})
          const video = document.createElement('video')
          video.autoplay = video.muted = true
          document.body.append(video)
          video.srcObject = new MediaStream(connection.getReceivers().map(x => x.track))
          await connection.setLocalDescription()
          const reply = await fetch('\(url)', {method: 'POST', body: connection.localDescription.sdp,
            headers: {'Content-Type': 'application/sdp', Authorization: 'Bearer \(token)'}})
          await connection.setRemoteDescription({type: 'answer', sdp: await reply.text()})
          await rig.connected(connection)
          Object.assign(globalThis, {video, connection})
          await rig.shown(video)
        })()
        """
    }
}

extension AiortcPeer {
    /// A server, and its address.
    static func serving(
        on machine: NetworkNamespace, port: Int = 8000, _ configuration: Configuration
    ) async throws -> (peer: AiortcPeer, url: String) {
        let peer = try await AiortcPeer(.serve(port: port), on: machine, configuration)
        return (peer, "http://\(machine.address):\(port)")
    }
}
