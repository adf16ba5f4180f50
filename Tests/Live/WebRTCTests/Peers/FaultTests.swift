import Foundation
import TestSupport
import Testing

/// Network and server failures under `gst-bridge share`, `receive` and `run --output whip:…`.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct FaultTests {
    @Test func sendersAndViewersComeBackAfterServersWereKilled() async throws {
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
                    $0.contains("cam has started sending")
                }
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await page.evaluate("rig.shown(video, 5)")
                    try await share.kill()
                    try await receive.kill()
                    let again = try await ServingProgram(sharing, on: network.server)
                    let receiveAgain = try await ServingProgram(
                        receiving, on: network.server, port: 8081)
                    try await again.waitForProgress("1 viewer ")
                    try await expectPictures(15, on: page)
                    try await receiveAgain.waitForRecording(of: "cam")
                    try await receiveAgain.waitForPictures(15)
                    sending.send(signal: SIGINT)
                    let sent = try await sending.end()
                    #expect(sent.status == 0, "\(sent.errors)")
                    let file = try #require(try await receiveAgain.end().files?.first)
                    try await file.check(hasSound: false)
                    _ = try await again.end()
                }
            }
        }
    }

    @Test func picturesAndSoundSurviveLossAndComeBackWithTheCable() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    [
                        "share", "--capture",
                        "\(pictures.source) ! appsink name=video "
                            + "\(try Syllables.source(in: directory)) ! appsink name=audio",
                    ], on: network.server)
                try await withBrowser(on: network.client) { browser in
                    let page = try await browser.open(share.page)
                    try await page.evaluate("rig.shown(video, 5).then(() => $('sound').click())")
                    let before = try await page.evaluate(Self.copies(atLeast: 0), as: Int.self)
                    #expect(before == 0)
                    try await network.lose(percent: 3, to: network.client)
                    // After an unrecoverable loss, the video freezes until a keyframe, which the page requests.
                    try await expectPictures(30, on: page)
                    // The next audio packet contains a copy of the lost one.
                    try await network.lose(percent: 15, to: network.client)
                    #expect(try await page.evaluate(Self.copies(atLeast: 5), as: Int.self) >= 5)
                    try await network.lose(percent: 0, to: network.client)
                    try await page.evaluate("globalThis.before = current")
                    try await network.pullCable()
                    try await page.evaluate(Self.interruption)
                    try await network.plugCable()
                    try await page.evaluate(Self.newConnection)
                    try await expectPictures(15, on: page)
                    try await share.waitForProgress("1 viewer ")
                }
                #expect(try await share.end().ended == "interrupt")
            }
        }
    }

    /// JavaScript: the number of packets with a redundant copy that the page has received.
    private static func copies(atLeast count: Int) -> String {
        """
        (async () => {
          for (;;) {
            const {audio} = await rig.inbound(current.pc)
            if (audio?.fecPacketsReceived >= \(count)) return audio.fecPacketsReceived
            await new Promise(done => setTimeout(done, 200))
          }
        })()
        """
    }

    /// JavaScript that resolves when the page has closed its connection.
    private static let interruption = """
        (async () => {
          while (current === before) await new Promise(done => setTimeout(done, 100))
        })()
        """
    /// JavaScript that resolves when the page has a new connection that shows video.
    private static let newConnection = """
        (async () => {
          while (current?.pc?.connectionState !== 'connected')
            await new Promise(done => setTimeout(done, 100))
          await rig.shown(video)
        })()
        """
}
