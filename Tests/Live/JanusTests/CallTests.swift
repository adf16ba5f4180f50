import Foundation
import TestSupport
import Testing

/// `gst-bridge join` in rooms of a real Janus server.
@Suite(
    .hangGuard, .needsJanus, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallTests {
    @Test(arguments: ["h264", "vp8"])
    func twoProgramsRecordEachOther(codec: String) async throws {
        try await Call.run { call in
            let alice = try call.call("alice", ["--codec", codec] + call.recording("alice"))
            let bob = try call.call("bob", ["--codec", codec] + call.recording("bob"))
            for (program, other) in [(alice, "bob"), (bob, "alice")] {
                try await program.waitsForPictures(of: other)
                try await program.waits(for: "\(other) sends audio")
            }
            for (program, other) in [(alice, "bob"), (bob, "alice")] {
                let report = try await program.report()
                let shown = program.pictures(of: other)
                #expect(shown.areInOrder(of: 128, repeats: false), "\(shown)")
                #expect(report.ended == "interrupt")
                // The other program received what this one sent.
                #expect(report.outputs["channel"]?.frames ?? 0 >= 10)
                let file = try #require(report.files?.first)
                #expect(file.frames >= 10)
                try await file.expect(other, codec: codec)
            }
        }
    }

    @Test func callSurvivesAServerRestartAndAKilledUser() async throws {
        try await Call.run { call in
            let alice = try call.call("alice", call.recording("alice"))
            let bob = try call.call("bob")
            try await alice.waitsForPictures(of: "bob")
            try await call.janus.kill()
            for program in [alice, bob] { try await program.waits(for: "reconnecting: ") }
            try await call.janus.start()
            for program in [alice, bob] { try await program.waits(for: "reconnected") }
            try await alice.waitsForPictures(of: "bob")
            try await bob.waitsForPictures(of: "alice")
            // Bob is still the same user.
            #expect(alice.errors.ranges(of: "bob has ").count == 1)
            bob.send(signal: SIGKILL)
            _ = try await bob.end()
            try await alice.waits(for: "bob has disconnected (dropped)")

            let again = try call.call("bob")
            try await alice.waitsForPictures(of: "bob")
            _ = try await again.report(by: SIGTERM)
            try await alice.waits(for: "bob has left")
            let files = try #require(try await alice.report().files)
            // The first file continues after the interruption.
            #expect(files.count == 2)
            for file in files { try await file.expect("bob", isWhole: false) }
        }
    }

    @Test func audienceReceivesMessagesAndMuteEventsAndSendsNoMedia() async throws {
        try await Call.run { call in
            let (alice, lines) = try await call.chat("alice")
            let carol = try call.join(
                "carol", ["--audience", "--output", "alice=\(Call.watching[1])"])
            try await alice.waits(for: "carol has joined")
            try await carol.waitsForPictures(of: "alice", 3)
            try lines.write(contentsOf: Data("good morning\n".utf8))
            try await carol.waits(for: "alice: good morning")
            try lines.write(contentsOf: Data("/mute\n".utf8))
            try await carol.waits(for: "alice has muted the video")
            try await carol.waits(for: "alice has muted the audio")
            let quiet = carol.errors.ranges(of: "alice 0.0 fps").count
            try await carol.waits(for: "alice 0.0 fps", times: quiet + 1)
            try lines.write(contentsOf: Data("/unmute\n".utf8))
            try await carol.waits(for: "alice has unmuted the video")
            try await carol.waitsForPictures(of: "alice", 3)
            let report = try await carol.report()
            #expect(report.captures["alice"]?.frames ?? 0 >= carol.pictures(of: "alice").count)
            #expect(report.outputs["channel"]?.frames == 0)
            try await alice.waits(for: "carol has left")
            #expect(!alice.errors.contains("carol sends"))

            let bob = try call.join("bob")
            try await bob.waits(for: "alice has joined")
            try lines.write(contentsOf: Data("/leave\n".utf8))
            #expect(try await alice.end().status == 0)
            try await bob.waits(for: "alice has left")
            _ = try await bob.report()
        }
    }

    @Test func tokenFromTheCommandAdmitsAUser() async throws {
        var configuration = JanusServer.Configuration()
        configuration.tokenSecret = "secret"
        configuration.rooms = [.init(Call.room)]
        configuration.rooms[0].requiresToken = true
        try await Call.run(configuration) { call in
            let file = try call.directory.write("secret\n", to: "secret")
            let token = try await Tool.check(
                Tool.gstBridge, ["token", Call.room, "--secret-file", file, "--valid-for", "1h"])
            let admitted = try call.join(
                "alice",
                ["--token", token.trimmingCharacters(in: .newlines), "--duration", "100ms"])
            #expect(try await admitted.end().status == 0)
            let refused = try await call.join("bob").end()
            #expect(refused.status == 1)
            #expect(refused.errors.contains("token"))
        }
    }
}
