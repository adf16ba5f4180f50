import Foundation
import TestSupport
import Testing

/// Peers of others with each other, across a test's network: what ours are tested against.
@Suite(
    .deadline(minutes: 3), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ForeignPeerTests {
    /// A connection between two ends of one page, of a camera's pictures and sound.
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

    @Test func aBrowserReadsTheNumbersOfItsOwnCamera() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                _ = try directory.write("<!doctype html><title>call</title>", to: "index.html")
                var configuration = Browser.Configuration()
                configuration.cameraFilm = try NumberedPictures(in: directory).writeFilm()
                let server = try await PageServer(on: network.server, serving: directory)
                try await withBrowser(on: network.client, configuration) { browser in
                    let page = try await browser.open(server.origin)
                    #expect(try await page.evaluate("\(Self.call)({})") == "true")
                    let readings = try await page.evaluate(
                        "rig.watch(video, 20)", as: [NumberedPictures.Reading].self)
                    #expect(readings.count == 20)
                    #expect(Set(readings.map(\.number)).count > 5)
                    #expect(readings.allSatisfy { $0.mean < 12 })
                    let inbound = try await page.evaluate(
                        "rig.inbound(connection).then(x => x.video.framesDecoded)", as: Int.self)
                    #expect(inbound >= 20)
                    let picture = directory.file("page.png")
                    try await page.screenshot(to: picture)
                    #expect(try directory.data("page.png").starts(with: [0x89, 0x50, 0x4e, 0x47]))
                    await #expect(throws: ChildProcess.Failure.self) {
                        try await page.evaluate("nobody.knows()")
                    }
                }
            }
        }
    }

    @Test func aBrowserReachesItselfByARelay() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                _ = try directory.write("<!doctype html><title>call</title>", to: "index.html")
                let turn = try await TurnServer(on: network.server, in: directory)
                let server = try await PageServer(on: network.server, serving: directory)
                var configuration = Browser.Configuration()
                configuration.hasCamera = true
                try await withBrowser(on: network.client, configuration) { browser in
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
                }
            }
        }
    }

    @Test(arguments: ["H264", "VP8"])
    func aBrowserAndAiortcPlayWhatAiortcSends(codec: String) async throws {
        try await withTestNetwork { network in
            var configuration = AiortcPeer.Configuration()
            configuration.token = "a token"
            configuration.codec = codec
            let server = try await AiortcPeer.serving(on: network.server, configuration)
            let sender = try await AiortcPeer(
                .send("\(server.url)/whip"), on: network.client, configuration)
            configuration.pictures = 30
            let player = try await AiortcPeer(
                .play("\(server.url)/whep"), on: network.client, configuration)
            let played = try await player.report()
            #expect(played.error == nil)
            // It reports a moment later, when more have come.
            #expect(played.pictures >= 30)
            #expect(played.sound > 0)
            #expect(played.mean < 6)
            try await withBrowser(on: network.client) { browser in
                let page = try await browser.open("about:blank")
                try await page.evaluate(WhepPage.play("\(server.url)/whep", token: "a token"))
                let readings = try await page.evaluate(
                    "rig.watch(video, 10)", as: [NumberedPictures.Reading].self)
                #expect(readings.count == 10)
                #expect(readings.allSatisfy { $0.mean < 6 })
            }
            let sent = try await sender.stop()
            #expect(sent.error == nil)
            #expect(sent.pictures > 30)
            let came = try await server.peer.stop()
            #expect(came.pictures > 30)
            configuration.token = "another"
            _ = try await AiortcPeer.serving(on: network.server, port: 8001, configuration)
            configuration.token = nil
            let refused = try await AiortcPeer(
                .play("http://\(network.server.address):8001/whep"), on: network.client,
                configuration)
            #expect(try await refused.report().error == "HTTP 401")
        }
    }

    @Test func aWhipClientSendsToAiortc() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                var configuration = AiortcPeer.Configuration()
                configuration.pictures = 30
                let server = try await AiortcPeer.serving(on: network.server, configuration)
                let pictures = try NumberedPictures(in: directory)
                let client = try await WhipClient(
                    to: "\(server.url)/whip", video: WhipClient.h264(pictures.source),
                    audio: WhipClient.tone, on: network.client, in: directory, ["--no-trickle"])
                let came = try await server.peer.report()
                #expect(came.error == nil)
                // It reports a moment later, when more have come.
                #expect(came.pictures >= 30)
                #expect(came.mean < 6)
                client.process.send(signal: SIGKILL)
                _ = try await client.process.end()
            }
        }
    }
}

extension ForeignPeerTests {
    @Test(arguments: [false, true])
    func browsersSeeEachOtherThroughJanus(isSecure: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                _ = try directory.write("<!doctype html><title>room</title>", to: "index.html")
                var browserConfiguration = Browser.Configuration()
                browserConfiguration.cameraFilm = try NumberedPictures(in: directory).writeFilm()
                browserConfiguration.acceptsAnyCertificate = isSecure
                let pages = try await PageServer(on: network.server, serving: directory)
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
                let janus = try await JanusServer(
                    on: network.server, in: directory, configuration)
                let core = try await configuration.token(of: "janus", "janus.plugin.videoroom")
                let room = try await configuration.token(
                    of: "janus.plugin.videoroom", "room=meeting")
                try await withBrowser(on: network.client, browserConfiguration) { browser in
                    let page = try await browser.open(pages.origin)
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
                          await rig.shown(seen.video, 30)
                          return rig.watch(seen.video, 10)
                        })()
                        """, as: [NumberedPictures.Reading].self)
                    #expect(readings.count == 10)
                    #expect(readings.allSatisfy { $0.mean < 20 })
                    await #expect(throws: ChildProcess.Failure.self) {
                        try await page.evaluate(
                            "ann.join({room: 'meeting', pin: '4321', token: \(room.javaScript)})")
                    }
                    try await janus.kill()
                    try await janus.start()
                    let again = try await page.evaluate(
                        "rig.janus('\(janus.url)', {token: \(core.javaScript)}).then(x => typeof x.join)"
                    )
                    #expect(again == "\"function\"")
                }
            }
        }
    }
}

extension String? {
    /// As JavaScript writes it.
    fileprivate var javaScript: String { map { "'\($0)'" } ?? "undefined" }
}

/// A page that plays by WHEP.
enum WhepPage {
    /// JavaScript that shows it in `video`, and resolves when there is a picture.
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
    /// A server, and where it is.
    static func serving(
        on machine: NetworkNamespace, port: Int = 8000, _ configuration: Configuration
    ) async throws -> (peer: AiortcPeer, url: String) {
        let peer = try await AiortcPeer(.serve(port: port), on: machine, configuration)
        return (peer, "http://\(machine.address):\(port)")
    }
}
