import Foundation
import TestSupport
import Testing

/// Network failures during a call.
@Suite(
    .hangGuard, .needsJanus, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallFaultTests {
    /// Alice runs on the server's machine, and bob on the other side of the cable. Each records the other into one
    /// file.
    @Test func callRecoversFromCableLossAddressChangeAndPacketLoss() async throws {
        try await Call.run { call in
            // A pulled cable raises no event. The silence timeout detects it, with its default limit.
            let (alice, bob) = (
                try call.call("alice", call.recording("alice"), environment: [:]),
                try call.call(
                    "bob", call.recording("bob"), on: call.network.client, environment: [:])
            )
            let seeEachOther = {
                try await alice.waitsForPictures(of: "bob", 5)
                try await bob.waitsForPictures(of: "alice", 5)
            }
            try await seeEachOther()

            try await call.network.pullCable()
            try await bob.waits(for: "reconnecting: ")
            try await call.network.plugCable()
            try await bob.waits(for: "reconnected")
            try await seeEachOther()

            try await call.network.changeAddress(of: call.network.client)
            try await bob.waits(for: "reconnecting: ", times: 2)
            try await bob.waits(for: "reconnected", times: 2)
            try await seeEachOther()

            for machine in [call.network.server, call.network.client] {
                try await call.network.lose(percent: 20, to: machine)
            }
            try await seeEachOther()
            for machine in [call.network.server, call.network.client] {
                try await call.network.lose(percent: 0, to: machine)
            }
            try await seeEachOther()

            let files = try #require(try await bob.report().files)
            let others = try #require(try await alice.report().files)
            try #require(files.count == 1 && others.count == 1)
            try await files[0].expect("alice", isWhole: false)
            try await others[0].expect("bob", isWhole: false)
            #expect(alice.errors.ranges(of: "bob has joined").count == 1, "\(alice.errors)")
        }
    }

    /// Setting the clock is no interruption: video and audio stay in sync. The test is off under a
    /// sanitizer, which must be the first library of a program.
    @Test(.enabled(if: !Sanitizer.isActive))
    func systemClockChangeKeepsRecordingTimestamps() async throws {
        try await Call.run { call in
            let clock = try await ShiftedClock(in: call.directory)
            try clock.set(hours: 0)
            let bob = try call.join("bob", Call.watching + call.recording("bob"))
            let alice = try call.join(
                "alice", ["--capture", call.capture("alice"), "--codec", "h264"],
                environment: Call.patience.merging(clock.environment) { $1 })
            try await bob.waitsForPictures(of: "alice")
            for hours in [1, -1] {
                try clock.set(hours: hours)
                // Longer than the interval between two RTCP sender reports.
                try await bob.waitsForPictures(of: "alice", 30)
            }
            let file = try #require(try await bob.report().files?.first)
            #expect(!alice.errors.contains("reconnecting"))
            _ = try await alice.report()
            try await file.expect("alice")
            let video = try await MediaProbe.videoTimes(of: file.path)
            #expect(zip(video, video.dropFirst()).allSatisfy { $0 < $1 })
            let audio = try await MediaProbe.audioTimes(of: file.path)
            #expect(zip(audio, audio.dropFirst()).allSatisfy { $0 < $1 })
            // An error of an hour would show at the start or at the end.
            let (first, last) = (try #require(video.first), try #require(video.last))
            #expect(abs(try #require(audio.first) - first) < 600)
            #expect(abs(try #require(audio.last) - last) < 600)
            #expect(last - first < 600)
        }
    }
}
