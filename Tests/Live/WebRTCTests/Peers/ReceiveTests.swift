import Foundation
import TestSupport
import Testing

/// `gst-bridge receive`, with Chromium as the sender.
@Suite(
    .hangGuard,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ReceiveTests {
    @Test func recordsTheCameraAndMicrophoneOfThePage() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                var configuration = Browser.Configuration()
                configuration.cameraFilm = try NumberedPictures(in: directory).writeFilm()
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server)
                try await withBrowser(on: network.client, configuration) { browser in
                    let page = try await browser.open(receive.cameraPage(name: "film"))
                    try await page.evaluate("$('start').click()")
                    try await receive.waitForRecording(of: "film")
                    try await receive.waitForPictures(30)
                    try await page.evaluate("$('start').click()")
                    try await receive.process.waitForErrors(to: "report the sender's end") {
                        $0.contains("film has stopped sending")
                    }
                    #expect(try await page.evaluate("$('state').textContent") == "\"Stopped\"")
                }
                let files = try #require(try await receive.end().files)
                #expect(files.count == 1, "\(receive.process.errors)")
                let file = try #require(files.first)
                #expect(file.path.contains("/film-"))
                try await file.check(mean: 20)
                #expect(try await MediaProbe.audioSamples(of: file.path) > 0)
            }
        }
    }
}
