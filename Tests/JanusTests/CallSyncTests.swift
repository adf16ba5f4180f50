import Foundation
import TestSupport
import Testing

/// Pictures and sound of a call belong together, as ffmpeg finds them in what was recorded of it.
@Suite(
    .deadline(minutes: 3), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallSyncTests {
    @Test(arguments: [0, 3.0]) func eachFlashIsRecordedWithItsBeep(loss: Double) async throws {
        try await Call.run { call in
            let film = try FlashAndBeepFilm(in: call.directory)
            try await call.network.lose(percent: loss, to: call.network.client)
            let offsets = try await FlashAndBeepFilm.offsets {
                let bob = try call.join(
                    "bob", ["--record", try call.makeDirectory("of-bob")], on: call.network.client)
                let alice = try call.join("alice", ["--capture", film.capture, "--codec", "h264"])
                try await bob.waitsForPictures(of: "alice", seconds: 6)
                let file = try #require(try await bob.report().files?.first)
                _ = try await alice.report()
                return file.path
            }
            #expect(offsets.count >= 3)
            #expect(offsets.allSatisfy { abs($0) <= 40 }, "\(offsets)")
        }
    }

    /// A sanitizer has to be the first library of a program.
    @Test(.enabled(if: !Sanitizer.isActive))
    func aClockThatIsSetDisturbsNeitherPicturesNorSound() async throws {
        try await Call.run { call in
            let film = try FlashAndBeepFilm(in: call.directory)
            let clock = try await ShiftedClock(in: call.directory)
            let offsets = try await FlashAndBeepFilm.offsets {
                try clock.set(hours: 0)
                let bob = try call.join("bob", ["--record", try call.makeDirectory("of-bob")])
                let alice = try call.join(
                    "alice", ["--capture", film.capture, "--codec", "h264"],
                    environment: clock.environment)
                try await bob.waitsForPictures(of: "alice", seconds: 2)
                for hours in [1, -1] {
                    try clock.set(hours: hours)
                    try await bob.waitsForPictures(of: "alice", seconds: 5)
                }
                let file = try #require(try await bob.report().files?.first)
                _ = try await alice.report()
                return file.path
            }
            #expect(offsets.count >= 7)
            #expect(offsets.allSatisfy { abs($0) <= 40 }, "\(offsets)")
        }
    }
}
