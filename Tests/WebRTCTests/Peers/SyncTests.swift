import Foundation
import TestSupport
import Testing

/// Pictures and sound that went through WHIP and WHEP belong together, as ffmpeg finds them in recordings.
@Suite(
    .deadline(minutes: 3), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct SyncTests {
    private func check(_ record: () async throws -> String) async throws {
        let offsets = try await FlashAndBeepFilm.offsets(inStepOf: record)
        #expect(offsets.count >= 3)
        #expect(offsets.allSatisfy { abs($0) <= 40 }, "\(offsets)")
    }

    @Test func eachFlashIsPlayedWithItsBeep() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let film = try FlashAndBeepFilm(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", film.capture], on: network.server)
                try await check {
                    let path = directory.file("played.mkv")
                    let recording = try await network.client.run(
                        Tool.gstBridge,
                        [
                            "record", "--capture",
                            "whep:\(share.origin)/whep \(ServingProgram.token)", "--frames", "160",
                            path,
                        ])
                    #expect(recording.status == 0, "\(recording.errors)")
                    return path
                }
                _ = try await share.end()
            }
        }
    }

    @Test func eachFlashIsReceivedWithItsBeep() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let film = try FlashAndBeepFilm(in: directory)
                try await check {
                    let receive = try await ServingProgram(
                        ["receive", "--record", directory.path], on: network.server)
                    let sending = try network.client.start(
                        Tool.gstBridge,
                        [
                            "run", "--capture", film.capture, "--output",
                            "whip:\(receive.origin)/whip \(ServingProgram.token)",
                        ])
                    let begin = "1 sender  "
                    try await receive.waitForProgress(begin)
                    let before = receive.process.errors.ranges(of: begin).count
                    try await receive.process.waitForErrors(to: "receive for 6 s") {
                        $0.ranges(of: begin).count >= before + 6
                    }
                    sending.send(signal: SIGINT)
                    #expect(try await sending.end().status == 0)
                    return try #require(try await receive.end().files?.first).path
                }
            }
        }
    }
}
