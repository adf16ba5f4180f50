import Foundation
import TestSupport
import Testing

/// Networks and servers that fail under `gst-bridge share`, `receive` and `run --output whip:…`.
@Suite(
    .deadline(minutes: 3), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct FaultTests {
    @Test func whoSendsAndWhoWatchesComeAgainAfterServersWereKilled() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let sharing = ["share", "--capture", pictures.source]
                let receiving = ["receive", "--record", directory.path]
                let share = try await ServingProgram(sharing, on: network.server)
                let receive = try await ServingProgram(receiving, on: network.server, port: 8081)
                let sending = try network.client.start(
                    Tool.gstBridge,
                    [
                        "run", "--capture", pictures.source, "--output",
                        "whip:\(receive.origin)/whip?name=cam \(ServingProgram.token)",
                    ])
                try await receive.process.waitForErrors(to: "have a sender") {
                    $0.contains("cam sends")
                }
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await page.evaluate("rig.shown(video, 10)")
                    try await share.kill()
                    try await receive.kill()
                    let again = try await ServingProgram(sharing, on: network.server)
                    let receiveAgain = try await ServingProgram(
                        receiving, on: network.server, port: 8081)
                    let readings = try await page.evaluate(
                        "rig.shown(video, 1, 25000).then(() => rig.watch(video, 20))",
                        as: [NumberedPictures.Reading].self)
                    #expect(readings.count == 20)
                    #expect(readings.allSatisfy { $0.mean < 8 })
                    try await again.waitForProgress("1 viewer ")
                    try await receiveAgain.process.waitForErrors(
                        to: "have the sender again", within: .seconds(30)
                    ) { $0.contains("cam sends") }
                    // That there are pictures is told once a second.
                    try await receiveAgain.process.waitForErrors(to: "have pictures") {
                        $0.contains("1 sender  2") || $0.contains("1 sender  3")
                    }
                    sending.send(signal: SIGINT)
                    let sent = try await sending.end()
                    #expect(sent.status == 0, "\(sent.errors)")
                    let file = try #require(try await receiveAgain.end().files?.first)
                    let recorded = try await NumberedPictures.readings(of: file.path)
                    #expect(recorded.count > 10)
                    #expect(recorded.isRising)
                    #expect(recorded.allSatisfy { $0.mean < 8 })
                    _ = try await again.end()
                }
            }
        }
    }

    @Test func picturesGoOnWithLossAndComeAgainWithTheCable() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.sourceWithSound], on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await page.evaluate("rig.shown(video, 5)")
                    try await network.lose(percent: 3, to: network.client)
                    let lossy = try await page.evaluate(
                        "rig.watch(video, 60, 20000)", as: [TimedReading].self)
                    // What is lost for good keeps the picture still until a key frame, and none comes unasked.
                    #expect(lossy.count == 60)
                    #expect(lossy.longestGap < 2000, "\(lossy.longestGap) ms")
                    try await network.lose(percent: 0, to: network.client)
                    try await network.pullCable()
                    _ = try await page.evaluate("rig.watch(video, 1000, 2000)")
                    try await network.plugCable()
                    let after = try await page.evaluate(
                        "rig.shown(video, 10, 20000).then(() => rig.watch(video, 20))",
                        as: [NumberedPictures.Reading].self)
                    #expect(after.count == 20)
                    #expect(after.allSatisfy { $0.mean < 8 })
                    try await share.waitForProgress("1 viewer ")
                }
                #expect(try await share.end().ended == "interrupt")
            }
        }
    }

    @Test func soundThatIsLostIsFoundInTheNextPacket() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let share = try await ServingProgram(
                    [
                        "share", "--capture",
                        "videotestsrc ! video/x-raw,width=160,height=120,framerate=15/1 "
                            + "! appsink name=video "
                            + "\(try Syllables.source(in: directory)) ! appsink name=audio",
                    ], on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await page.evaluate("rig.shown(video).then(() => $('sound').click())")
                    let before = try await page.evaluate(Self.copies(atLeast: 0), as: Int.self)
                    #expect(before == 0)
                    try await network.lose(percent: 15, to: network.client)
                    let copies = try await page.evaluate(
                        Self.copies(atLeast: 20), as: Int.self, within: .seconds(40))
                    #expect(copies >= 20)
                }
                _ = try await share.end()
            }
        }
    }

    /// JavaScript for the number of packets with a copy that the page has received.
    private static func copies(atLeast count: Int) -> String {
        """
        (async () => {
          for (const end = performance.now() + 30000; ;) {
            const {audio} = await rig.inbound(current.pc)
            if (audio?.fecPacketsReceived >= \(count)) return audio.fecPacketsReceived
            if (performance.now() > end) throw new Error(JSON.stringify(audio))
            await new Promise(done => setTimeout(done, 200))
          }
        })()
        """
    }

    @Test func aWrongTokenAndAnUnknownCodecAreTold() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let share = try await ServingProgram(
                    ["share", "--capture", Self.capture], on: network.server)
                let receive = try await ServingProgram(
                    ["receive", "--output", "fakevideosink"], on: network.server, port: 8081)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open("\(share.origin)/#token=wrong")
                    #expect(try await page.evaluate(Self.hint) == "\"This token is not taken.\"")
                    let status = try await page.evaluate(
                        Self.status("\(share.origin)/whep", codec: "video/VP9"), as: Int.self)
                    #expect(status == 406)
                    let sounding = try await page.evaluate(
                        Self.status("\(share.origin)/whep", codec: "video/VP9", hasSound: true),
                        as: Int.self)
                    #expect(sounding == 201)
                    try await page.load("about:blank")
                    try await page.load(share.page)
                    try await page.evaluate("rig.shown(video, 2)")
                }
                let sending = try await network.client.run(
                    Tool.gstBridge,
                    [
                        "run", "--capture", "videotestsrc is-live=true", "--output",
                        "whip:\(receive.origin)/whip wrong",
                    ])
                #expect(sending.status == 1)
                #expect(sending.errors.contains("token"), "\(sending.errors)")
                let playing = try await network.client.run(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(share.origin)/whep wrong",
                        directory.file("nothing.mkv"),
                    ])
                #expect(playing.status == 1)
                #expect(playing.errors.contains("token"), "\(playing.errors)")
                _ = try await receive.end()
                _ = try await share.end()
            }
        }
    }

    private static let capture =
        "videotestsrc is-live=true ! appsink name=video "
        + "audiotestsrc is-live=true ! audioconvert ! appsink name=audio"

    /// JavaScript for what the page says of the token, as soon as it does.
    private static let hint = """
        new Promise(done => {
          const look = () => $('tokenform').hidden ? requestAnimationFrame(look) : done($('tokenhint').textContent)
          look()
        })
        """

    /// JavaScript for the answer to an offer of one codec; where it is taken, the page has to be connected.
    private static func status(_ url: String, codec: String, hasSound: Bool = false) -> String {
        """
        (async () => {
          const connection = new RTCPeerConnection()
          const transceiver = connection.addTransceiver('video', {direction: 'recvonly'})
          transceiver.setCodecPreferences(RTCRtpReceiver.getCapabilities('video').codecs
            .filter(x => x.mimeType === '\(codec)'))
          if (\(hasSound)) connection.addTransceiver('audio', {direction: 'recvonly'})
          await connection.setLocalDescription()
          const reply = await fetch('\(url)', {method: 'POST', body: connection.localDescription.sdp,
            headers: {'Content-Type': 'application/sdp', Authorization: 'Bearer \(ServingProgram.token)'}})
          if (reply.status === 201) {
            await connection.setRemoteDescription({type: 'answer', sdp: await reply.text()})
            await rig.connected(connection)
          }
          return reply.status
        })()
        """
    }
}

/// When a picture was shown, in milliseconds.
private struct TimedReading: Decodable {
    let time: Double
}

extension [TimedReading] {
    fileprivate var longestGap: Double {
        zip(self, dropFirst()).map { $1.time - $0.time }.max() ?? .infinity
    }
}
