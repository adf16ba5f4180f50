import Foundation
import TestSupport
import Testing

/// Network and server failures under `gst-bridge share`, `receive` and `run --output whip:…`.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct FaultTests {
    @Test func sendersAndViewersReconnectAfterServersWereKilled() async throws {
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

    @Test func mediaSurvivesPacketLossAndResumesWithTheCable() async throws {
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

    /// Audio is not sent again, so lost packets of it stay lost.
    @Test func reportsOfBothEndsCountTheLostPackets() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.sourceWithSound], on: network.server)
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server, port: 8081)
                let sending = try network.client.start(
                    Tool.gstBridge,
                    [
                        "run", "--capture", pictures.sourceWithSound, "--report", "json",
                        "--output",
                        "whip:\(receive.origin)/whip?name=cam \(ServingProgram.token)",
                    ])
                let recording = try network.client.start(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(share.origin)/whep \(ServingProgram.token)",
                        "--progress", "always", "--report", "json", directory.file("played.mkv"),
                    ])
                try await receive.waitForRecording(of: "cam")
                try await recording.waitForErrors(to: "record pictures") { Self.frames($0) > 10 }
                try await network.lose(percent: 20, to: network.client)
                try await network.lose(percent: 20, to: network.server)
                let before = Self.frames(recording.errors)
                try await recording.waitForErrors(to: "record pictures despite the loss") {
                    Self.frames($0) > before + 60
                }
                try await receive.waitForPictures(60)
                try await network.lose(percent: 0, to: network.client)
                try await network.lose(percent: 0, to: network.server)
                let seen = Self.frames(recording.errors)
                try await recording.waitForErrors(to: "record pictures after the loss") {
                    Self.frames($0) > seen + 30
                }
                var reports: [String: ServingProgram.Report.Counts] = [:]
                for (name, process) in ["whip": sending, "whep": recording] {
                    process.send(signal: SIGINT)
                    let result = try await process.end()
                    #expect(result.status == 0, "\(result.errors)")
                    let report = try JSONDecoder().decode(
                        ServingProgram.Report.self, from: Data(result.output.utf8))
                    reports[name] =
                        name == "whip" ? report.outputs["output"] : report.captures["audio"]
                }
                reports["receive"] = try await receive.end().captures["senders"]
                reports["share"] = try await share.end().outputs["viewers"]
                #expect(reports.count == 4)
                for (name, counts) in reports {
                    #expect(counts.packets ?? 0 > 100, "\(name): \(counts)")
                    #expect(counts.lostPackets ?? 0 > 0, "\(name): \(counts)")
                }
            }
        }
    }

    /// The frames of the last progress line of a recording.
    private static func frames(_ errors: String) -> Int {
        errors.matches(of: #/([0-9]+) frames /#).last.flatMap { Int($0.1) } ?? 0
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
