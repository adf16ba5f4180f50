import Foundation
import TestSupport
import Testing

/// `gst-bridge join` in rooms of a real Janus.
@Suite(
    .deadline(minutes: 4), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallTests {
    @Test(arguments: ["h264", "vp8"])
    func twoProgramsRecordEachOther(codec: String) async throws {
        try await Call.run { call in
            let programs = try ["alice", "bob"].map { user in
                try call.join(
                    user,
                    sending: ["--codec", codec, "--record", try call.makeDirectory("of-\(user)")])
            }
            try await programs[0].waitsForPictures(of: "bob")
            try await programs[1].waitsForPictures(of: "alice")
            for program in programs {
                let report = try await program.report()
                #expect(report.ended == "interrupt")
                #expect((report.outputs["channel"]?.frames ?? 0) >= 15)
                let file = try #require(report.files?.first)
                let probe = try await MediaProbe(of: file.path)
                #expect(probe.video?.codec == codec)
                #expect(probe.video?.width == 320)
                #expect(probe.video?.frames == file.frames)
                #expect(file.frames >= 10)
                #expect(probe.audio?.codec == "opus")
                #expect((probe.audio?.frames ?? 0) >= 25)
            }
        }
    }

    @Test func aServerThatIsKilledAndStartsAgainInterruptsACallAndEndsNone() async throws {
        try await Call.run { call in
            let bob = try call.join("bob", sending: ["--output", "fakesink"])
            let alice = try call.join(
                "alice", sending: ["--record", try call.makeDirectory("of-alice")])
            try await alice.waitsForPictures(of: "bob")
            try await call.janus.kill()
            try await alice.waits(for: "reconnecting: ")
            try await bob.waits(for: "reconnecting: ")
            try await call.janus.start()
            try await alice.waits(for: "connected again")
            try await bob.waits(for: "connected again")
            try await alice.waitsForPictures(of: "bob")
            try await bob.waitsForPictures(of: "alice")
            // The one user is not told as another.
            #expect(alice.errors.ranges(of: "bob has ").count == 1)
            let report = try await alice.report()
            // One file from the beginning to the end.
            let files = try #require(report.files)
            #expect(files.count == 1)
            let probe = try await MediaProbe(of: files[0].path)
            #expect(probe.video?.frames == files[0].frames)
            #expect(probe.audio != nil)
            _ = try await bob.report()
        }
    }

    @Test func aUserWhoIsKilledIsGoneAtOnceAndComesAgainByTheSameName() async throws {
        try await Call.run { call in
            let alice = try call.join(
                "alice", sending: ["--record", try call.makeDirectory("of-alice")])
            let bob = try call.join("bob", sending: [])
            try await alice.waitsForPictures(of: "bob", seconds: 1)
            let begin = ContinuousClock.now
            bob.send(signal: SIGKILL)
            try await alice.waits(for: "bob has gone (dropped)")
            #expect(.now - begin < .seconds(5))
            _ = try await bob.end()
            let again = try call.join("bob", sending: [])
            try await alice.waitsForPictures(of: "bob", seconds: 1)
            _ = try await again.report(by: SIGTERM)
            try await alice.waits(for: "bob has left")
            let files = try #require(try await alice.report().files)
            #expect(files.count == 2)
            for file in files { #expect(try await MediaProbe(of: file.path).video != nil) }
        }
    }

    @Test func linesAreMessagesAndMutingIsSeen() async throws {
        try await Call.run { call in
            let (alice, lines) = try await call.chat("alice")
            let bob = try call.join("bob", ["--output", "fakesink"])
            try await bob.waitsForPictures(of: "alice", seconds: 1)
            try lines.write(contentsOf: Data("good morning\n".utf8))
            try await bob.waits(for: "alice: good morning")
            try lines.write(contentsOf: Data("/mute\n".utf8))
            try await bob.waits(for: "alice has muted the pictures")
            try await bob.waits(for: "alice has muted the sound")
            try await bob.waits(for: "alice 0.0 fps", times: 3)
            try lines.write(contentsOf: Data("/unmute\n".utf8))
            try await bob.waits(for: "alice has unmuted the pictures")
            try await bob.waitsForPictures(of: "alice", seconds: 1)
            try lines.write(contentsOf: Data("/leave\n".utf8))
            #expect(try await alice.end().status == 0)
            try await bob.waits(for: "alice has left")
            _ = try await bob.report()
        }
    }

    @Test func anAudienceReceivesAndSendsNothing() async throws {
        try await Call.run { call in
            let alice = try call.join("alice", sending: [])
            let carol = try call.join(
                "carol", ["--audience", "--output", "alice=videoconvert ! fakesink"])
            try await alice.waits(for: "carol has joined")
            try await carol.waitsForPictures(of: "alice", seconds: 1)
            let report = try await carol.report()
            #expect((report.captures["alice"]?.frames ?? 0) > 0)
            #expect(report.outputs["channel"]?.frames == 0)
            try await alice.waits(for: "carol has left")
            #expect(!alice.errors.contains("carol sends"))
            _ = try await alice.report()
        }
    }

    /// Without packets that are sent again, a third of the pictures is missing.
    @Test func lostPicturesComeAgain() async throws {
        try await Call.run { call in
            let alice = try call.join("alice", sending: [])
            var shares: [Double] = []
            // A busy machine asks for packets too late at times, but not always.
            for round in 0..<3 where shares.allSatisfy({ $0 <= 0.8 }) {
                shares.append(try await shareOfPicturesWithLoss(in: call, round: round))
            }
            _ = try await alice.report()
            #expect(shares.contains { $0 > 0.8 }, "\(shares)")
        }
    }

    /// The rate of alice's pictures that a user records with loss, as a share of what another records without.
    private func shareOfPicturesWithLoss(in call: Call, round: Int) async throws -> Double {
        try await call.network.lose(percent: 0, to: call.network.client)
        let record = { (user: String) in try ["--record", call.makeDirectory("of-\(user)")] }
        // Both miss what a busy machine does not send in time.
        let carol = try call.join("carol\(round)", record("carol\(round)"))
        let bob = try call.join("bob\(round)", record("bob\(round)"), on: call.network.client)
        try await carol.waitsForPictures(of: "alice", seconds: 1)
        try await bob.waitsForPictures(of: "alice", seconds: 1)
        try await call.network.lose(percent: 10, to: call.network.client)
        try await bob.waitsForPictures(of: "alice", seconds: 8)
        let lossy = try #require(try await bob.report().files?.first)
        let whole = try #require(try await carol.report().files?.first)
        return (Double(lossy.frames) / lossy.seconds) / (Double(whole.frames) / whole.seconds)
    }

    @Test func aTokenOfTheCommandAdmits() async throws {
        var configuration = JanusServer.Configuration()
        configuration.tokenSecret = "secret"
        configuration.rooms = [.init(Call.room)]
        configuration.rooms[0].requiresToken = true
        try await Call.run(configuration) { call in
            let file = try call.directory.write("secret\n", to: "secret")
            let token = try await Tool.check(
                Tool.gstBridge, ["token", Call.room, "--secret-file", file, "--valid-for", "1m"])
            let admitted = try call.join(
                "alice",
                ["--token", token.trimmingCharacters(in: .newlines), "--duration", "100ms"])
            #expect(try await admitted.end().status == 0)
            let refused = try await call.join("bob").end()
            #expect(refused.status == 1)
            #expect(refused.errors.contains("token"))
        }
    }

    @Test func aBrowserAndAProgramSeeEachOther() async throws {
        try await Call.run { call in
            _ = try call.directory.write("<!doctype html><title>room</title>", to: "index.html")
            let pages = try await PageServer(on: call.network.server, serving: call.directory)
            let pictures = try NumberedPictures(in: call.directory)
            let alice = try call.join(
                "alice",
                [
                    "--capture", pictures.source, "--record", try call.makeDirectory("of-alice"),
                ])
            try await alice.waits(for: "gst-bridge: sending")
            var configuration = Browser.Configuration()
            configuration.hasCamera = true
            try await withBrowser(on: call.network.client, configuration) { browser in
                let page = try await browser.open(pages.origin)
                let readings = try await page.evaluate(
                    """
                    (async () => {
                      const room = '\(Call.room)'
                      globalThis.janus = await rig.janus('\(call.janus.url)')
                      const stream = await navigator.mediaDevices.getUserMedia({video: true, audio: true})
                      const me = globalThis.me = await janus.join({room, id: 'ann', display: 'ann'})
                      await me.publish(stream)
                      const seen = await janus.watch({room, feed: 'alice', private_id: me.private_id})
                      await rig.shown(seen.video, 10)
                      return rig.watch(seen.video, 10)
                    })()
                    """, as: [NumberedPictures.Reading].self)
                #expect(readings.count == 10)
                #expect(readings.allSatisfy { $0.mean < 20 })
                try await alice.waitsForPictures(of: "ann", seconds: 2)
                try await page.evaluate("janus.leave()")
                try await alice.waits(for: "ann has gone")
            }
            let file = try #require(try await alice.report().files?.first)
            let probe = try await MediaProbe(of: file.path)
            #expect((probe.video?.frames ?? 0) >= 10)
            #expect(probe.audio?.codec == "opus")
        }
    }
}
