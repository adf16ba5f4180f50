import Foundation
import TestSupport
import Testing

/// `gst-bridge share`, with Chromium as the viewer.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ShareTests {
    /// One browser and one network serve both codecs.
    @Test func thePageShowsPicturesInOrderAndPlaysSound() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                try await withBrowser(on: network.client) { browser in
                    for (codec, port) in [("h264", 8080), ("vp8", 8081)] {
                        let share = try await ServingProgram(
                            ["share", "--capture", pictures.sourceWithSound, "--codec", codec],
                            on: network.server, port: port)
                        let page = try await browser.open(share.page)
                        try await expectPictures(15, on: page)
                        let used = try await page.evaluate(Self.codec, as: String.self)
                        #expect(used.lowercased() == "video/\(codec)")
                        #expect(try await page.evaluate("$('sound').hidden") == "false")
                        try await page.evaluate("$('sound').click()")
                        #expect(try await page.evaluate(Self.sound, as: Double.self) > 0)
                        #expect(try await page.evaluate("$('notice').hidden") == "true")
                        try await share.waitForProgress("1 viewer ")
                        if codec == "h264" { try await expectThreePlayers(of: share, browser) }
                        try await page.close()
                        try await share.waitForProgress("0 viewers")
                        let report = try await share.end()
                        #expect(report.ended == "interrupt")
                        #expect(report.outputs["viewers"]?.frames ?? 0 >= 15)
                    }
                }
            }
        }
    }

    /// The same capture serves three more players beside the page; they leave without a request.
    private func expectThreePlayers(of share: ServingProgram, _ browser: Browser) async throws {
        let page = try await browser.open("about:blank")
        try await page.evaluate(WhepPage.players(3, at: "\(share.origin)/whep"))
        let readings = try await page.evaluate(
            "Promise.all(players.map(one => rig.pictures(one.video, 5)))",
            as: [[NumberedPictures.Reading]].self)
        #expect(readings.map(\.count) == [5, 5, 5])
        #expect(readings.joined().allSatisfy { $0.mean < 8 })
        try await share.waitForProgress("4 viewers")
        // DTLS signals the end: no player sends a DELETE.
        try await page.evaluate("players.forEach(one => one.connection.close())")
        try await share.waitForProgress("1 viewer ")
        try await page.close()
    }

    @Test func thePageHasNoSoundButtonWithoutSound() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.source], on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await expectPictures(1, on: page)
                    #expect(try await page.evaluate("$('sound').hidden") == "true")
                }
                _ = try await share.end()
            }
        }
    }

    @Test func thePageShowsStatisticsForTheAddressQueryAndTheKey() async throws {
        try await withTestNetwork { network in
            let share = try await ServingProgram(
                ["share", "--capture", Self.capture], on: network.server)
            try await withBrowser(on: network.client) { browser in
                let page = try await browser.open(
                    "\(share.origin)/?stats#token=\(ServingProgram.token)")
                try await expectStatistics(on: page)
                #expect(try await page.evaluate(Self.pressKey) == "true")
                try await page.load("about:blank")
                try await page.load(share.page)
                try await page.evaluate("rig.shown(video, 2)")
                #expect(try await page.evaluate("$('stats').hidden") == "true")
                #expect(try await page.evaluate("current.clock === undefined") == "true")
                #expect(try await page.evaluate(Self.pressKey) == "false")
                try await expectStatistics(on: page)
            }
            _ = try await share.end()
        }
    }

    /// Waits until the page shows all figures, and checks them.
    private func expectStatistics(on page: Browser.Page) async throws {
        let texts = try await page.evaluate(Self.statistics, as: [String].self)
        let numbers = texts.compactMap { $0.split(separator: " ").first.flatMap { Double($0) } }
        #expect(numbers.count == 5 && numbers.allSatisfy { $0 >= 0 }, "\(texts)")
        #expect(texts.first == "160 × 120")
        #expect(texts.last?.hasSuffix(" ms") == true, "\(texts)")
    }

    @Test func aWrongTokenAndAnUnknownCodecAreReported() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let share = try await ServingProgram(
                    ["share", "--capture", Self.capture], on: network.server)
                let receive = try await ServingProgram(
                    ["receive", "--output", "fakevideosink"], on: network.server, port: 8081)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open("\(share.origin)/#token=wrong")
                    #expect(try await page.evaluate(Self.hint) == "\"This token is not valid.\"")
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
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=15/1 "
        + "! appsink name=video audiotestsrc is-live=true ! audioconvert ! appsink name=audio"

    /// JavaScript: the MIME type of the page's video.
    private static let codec = """
        (async () => {
          const {video} = await rig.inbound(current.pc)
          return (await current.pc.getStats()).get(video.codecId).mimeType
        })()
        """
    /// JavaScript: the energy of the page's audio, once there is any.
    private static let sound = """
        (async () => {
          for (;;) {
            const {audio} = await rig.inbound(current.pc)
            if (audio?.bytesReceived > 1000 && audio.totalAudioEnergy > 0) return audio.totalAudioEnergy
            await rig.shown(video)
          }
        })()
        """

    /// JavaScript: the texts of the statistics, once each has a number and the frame rate is above zero.
    private static let statistics = """
        new Promise(done => {
          const look = () => {
            const texts = ['size', 'rate', 'bits', 'loss', 'latency'].map(id => $(id).textContent)
            const isComplete = texts.every(text => /[0-9]/.test(text)) && parseFloat(texts[1]) > 0
            isComplete ? done(texts) : requestAnimationFrame(look)
          }
          look()
        })
        """
    /// JavaScript: presses `s`, and returns whether the statistics are hidden.
    private static let pressKey = """
        dispatchEvent(new KeyboardEvent('keydown', {key: 's'})), $('stats').hidden
        """

    /// JavaScript: the page's message about the token, once it is shown.
    private static let hint = """
        new Promise(done => {
          const look = () => $('tokenform').hidden ? requestAnimationFrame(look) : done($('tokenhint').textContent)
          look()
        })
        """

    /// JavaScript: the status of an offer with one codec; if it is accepted, the connection must succeed.
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

/// Expects that a page's video shows numbered pictures in order and with correct colours.
func expectPictures(
    _ count: Int, on page: Browser.Page, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let readings = try await page.evaluate(
        "rig.pictures(video, \(count))", as: [NumberedPictures.Reading].self)
    #expect(readings.count == count, sourceLocation: sourceLocation)
    #expect(
        readings.map(\.number).areInOrder(), "\(readings.map(\.number))",
        sourceLocation: sourceLocation)
    #expect(
        readings.allSatisfy { $0.mean < 8 }, "\(readings.map(\.mean))",
        sourceLocation: sourceLocation)
}

extension WhepPage {
    /// JavaScript that shows `count` players in `players`, and resolves when each has a picture.
    static func players(_ count: Int, at url: String) -> String {
        """
        (async () => {
          globalThis.players = await Promise.all(Array.from({length: \(count)}, async () => {
            const connection = new RTCPeerConnection({bundlePolicy: 'max-bundle'})
            connection.addTransceiver('video', {direction: 'recvonly'})
            const video = document.createElement('video')
            video.autoplay = video.muted = true
            document.body.append(video)
            video.srcObject = new MediaStream(connection.getReceivers().map(x => x.track))
            await connection.setLocalDescription()
            const reply = await fetch('\(url)', {method: 'POST', body: connection.localDescription.sdp,
              headers: {'Content-Type': 'application/sdp', Authorization: 'Bearer \(ServingProgram.token)'}})
            if (reply.status !== 201) throw new Error(reply.status + ' ' + await reply.text())
            await connection.setRemoteDescription({type: 'answer', sdp: await reply.text()})
            await rig.connected(connection)
            await rig.shown(video)
            return {video, connection}
          }))
        })()
        """
    }
}
