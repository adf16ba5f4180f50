import Foundation
import TestSupport
import Testing

/// Several users, tracks and joins, on a real Janus server.
@Suite(
    .hangGuard, .needsJanus, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CrowdTests {
    private static var configuration: JanusServer.Configuration {
        var configuration = JanusServer.Configuration()
        configuration.rooms = [.init("hall")]
        configuration.rooms[0].videoCodecs = ["h264", "vp8"]
        return configuration
    }

    @Test func threeUsersAndABrowserSeeEachOther() async throws {
        try await Call.run(Self.configuration) { call in
            _ = try call.directory.write("<!doctype html><title>room</title>", to: "index.html")
            let pages = try await PageServer(on: call.network.server, serving: call.directory)
            let (users, input) = try call.network.server.startReading(
                Tool.built("CallProbe"), ["room", "3", call.janus.url, call.directory.path])
            try await users.waitForOutput("all seen")
            var configuration = Browser.Configuration()
            configuration.cameraFilm = try call.pictures.writeFilm()
            try await withBrowser(on: call.network.client, configuration) { browser in
                let page = try await browser.open(pages.origin)
                let readings = try await page.evaluate(
                    Self.guest(at: call.janus.url), as: [[NumberedPictures.Reading]].self,
                    within: .hangLimit)
                #expect(readings.count == 3)
                for (user, readings) in readings.enumerated() {
                    #expect(readings.count == 5)
                    #expect(readings.allSatisfy { $0.number >> 5 == user }, "\(readings)")
                }
                try await users.waitForOutput("guest seen")
                input.end()
                let result = try await users.end()
                #expect(result.status == 0, "\(result.errors)")
                let left = try await page.evaluate(Self.rest, as: [String].self)
                #expect(left == ["guest"])
            }
        }
    }

    @Test func tracksComeGoAndChangeInACall() async throws {
        try await Call.run(Self.configuration) { call in
            let probe = try call.network.server.start(
                Tool.built("CallProbe"), ["tracks", call.janus.url], environment: Call.patience)
            for step in [
                "three tracks are shown", "a track has gone and come again",
                "the source has changed", "the size has changed", "the codec has changed",
                "pictures are encoded again",
            ] {
                try await probe.waitForOutput(step)
            }
            let result = try await probe.end()
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    /// JavaScript: the users that are still present.
    private static let rest = """
        janus.join({room: 'hall', id: 'late', display: 'late'})
          .then(me => [...me.publishers, ...(me.attendees ?? [])].map(x => x.id))
        """

    /// JavaScript that joins as `guest`, sends its camera, and resolves after five pictures of each
    /// user.
    private static func guest(at url: String) -> String {
        """
        (async () => {
          const room = 'hall'
          const janus = globalThis.janus = await rig.janus('\(url)')
          const stream = await navigator.mediaDevices.getUserMedia({video: true})
          const me = await janus.join({room, id: 'guest', display: 'guest'})
          if (me.publishers.length !== 3) throw new Error(JSON.stringify(me.publishers))
          await me.publish(stream)
          return Promise.all([0, 1, 2].map(async user => {
            const seen = await janus.watch({room, feed: `user${user}`, private_id: me.private_id})
            await rig.shown(seen.video, 3)
            return rig.watch(seen.video, 5)
          }))
        })()
        """
    }

    /// `make soak` measures the growth of memory, threads and descriptors.
    @Test func interruptedJoinsLeakNoObject() async throws {
        try await Call.run(Self.configuration) { call in
            let result = try await call.network.server.run(
                Tool.built("CallProbe"), ["joins", call.janus.url, "1"],
                environment: Holdings.tracing.merging(Call.patience) { $1 })
            #expect(result.status == 0, "\(result.errors.suffix(2000))")
            Holdings.checkObjects(result)
        }
    }
}
