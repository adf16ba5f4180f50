import Foundation
import TestSupport
import Testing

/// `gst-bridge share`, watched by Chromium.
@Suite(
    .deadline(minutes: 2), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ShareTests {
    @Test(arguments: ["h264", "vp8"])
    func thePageShowsPicturesInOrderAndPlaysSound(codec: String) async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.sourceWithSound, "--codec", codec],
                    on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    let readings = try await page.evaluate(
                        "rig.shown(video).then(() => rig.watch(video, 40))",
                        as: [NumberedPictures.Reading].self)
                    #expect(readings.count == 40)
                    #expect(readings.allSatisfy { $0.mean < 8 }, "\(readings.map(\.mean))")
                    #expect(readings.isRising)
                    #expect(readings.numberCount >= 20)
                    let used = try await page.evaluate(Self.codec, as: String.self)
                    #expect(used.lowercased() == "video/\(codec)")
                    try await page.evaluate("$('sound').click()")
                    #expect(try await page.evaluate(Self.sound, as: Double.self) > 0)
                    #expect(try await page.evaluate("$('notice').hidden") == "true")
                    try await share.waitForProgress("1 viewer ")
                    try await page.close()
                    try await share.waitForProgress("0 viewers")
                }
                let report = try await share.end()
                #expect(report.outputs["viewers"]?.frames ?? 0 >= 40)
            }
        }
    }

    @Test func twelveViewersAreServedByOneCapture() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.source], on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open("about:blank")
                    try await page.evaluate(WhepPage.players(12, at: "\(share.origin)/whep"))
                    let readings = try await page.evaluate(
                        "Promise.all(players.map(one => rig.watch(one.video, 5, 20000)))",
                        as: [[NumberedPictures.Reading]].self)
                    #expect(readings.map(\.count) == [Int](repeating: 5, count: 12))
                    #expect(readings.joined().allSatisfy { $0.mean < 8 })
                    try await share.waitForProgress("12 viewers")
                    // Told by DTLS: nobody sends a DELETE.
                    try await page.evaluate("players.forEach(one => one.connection.close())")
                    try await share.waitForProgress("0 viewers")
                }
                #expect(try await share.end().ended == "interrupt")
            }
        }
    }

    /// JavaScript for the type of the page's video.
    private static let codec = """
        (async () => {
          const {video} = await rig.inbound(current.pc)
          return (await current.pc.getStats()).get(video.codecId).mimeType
        })()
        """
    /// JavaScript for the energy of the page's sound, as soon as there is any.
    private static let sound = """
        (async () => {
          for (const end = performance.now() + 10000; ;) {
            const {audio} = await rig.inbound(current.pc)
            if (performance.now() > end) throw new Error(JSON.stringify(audio))
            if (audio?.bytesReceived > 1000 && audio.totalAudioEnergy > 0) return audio.totalAudioEnergy
            await rig.shown(video)
          }
        })()
        """
}

extension WhepPage {
    /// JavaScript that shows so many players in `players`, and resolves when each has a picture.
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
