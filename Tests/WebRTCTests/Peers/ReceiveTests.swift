import Foundation
import TestSupport
import Testing

/// `gst-bridge receive`, to which Chromium and others send.
@Suite(
    .deadline(minutes: 2), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct ReceiveTests {
    @Test func thePagesCameraAndMicrophoneAreRecorded() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                var configuration = Browser.Configuration()
                configuration.cameraFilm = try NumberedPictures(in: directory).writeFilm()
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server)
                try await withBrowser(on: network.client, configuration) { browser in
                    let page = try await browser.open(receive.cameraPage(name: "film"))
                    let encoded = try await page.evaluate(Self.sendPictures(75), as: Int.self)
                    #expect(encoded >= 75)
                    try await page.evaluate("$('start').click()")
                    try await receive.process.waitForErrors(to: "tell the sender's end") {
                        $0.contains("film has ended")
                    }
                    #expect(try await page.evaluate("$('state').textContent") == "\"Stopped\"")
                }
                let report = try await receive.end()
                let files = try #require(report.files)
                #expect(files.count == 1, "\(receive.process.errors)")
                let path = try #require(files.first).path
                #expect(path.contains("/film-"))
                let readings = try await NumberedPictures.readings(of: path)
                #expect(readings.count >= 50)
                #expect(readings.isRising)
                #expect(readings.numberCount >= 40)
                #expect(readings.allSatisfy { $0.mean < 20 }, "\(readings.map(\.mean))")
                let probe = try await MediaProbe(of: path)
                #expect(probe.audio?.codec == "opus")
                #expect(try await MediaProbe.audioSamples(of: path) > 48_000)
            }
        }
    }

    /// JavaScript that starts the page, and resolves with how many pictures it has sent when those are enough.
    private static func sendPictures(_ count: Int) -> String {
        """
        (async () => {
          $('start').click()
          for (;;) {
            await new Promise(done => setTimeout(done, 50))
            if (current?.pc?.connectionState !== 'connected') continue
            for (const report of (await current.pc.getStats()).values())
              if (report.type === 'outbound-rtp' && report.kind === 'video' && report.framesEncoded >= \(count))
                return report.framesEncoded
          }
        })()
        """
    }
}
