import Foundation
import TestSupport
import Testing

/// A cable that is out for longer than a peer may be silent, under WHIP and WHEP.
@Suite(
    .deadline(minutes: 3), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CableTests {
    /// A peer may be silent for ten seconds, and not longer.
    private static let environment = ["MEDIABRIDGE_DEADLINE_FACTOR": "1"]

    @Test func mediaComesAgainByItselfAndRecordingsAreWhole() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    ["share", "--capture", pictures.sourceWithSound], on: network.server,
                    environment: Self.environment)
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server, port: 8081,
                    environment: Self.environment)
                let sending = try network.client.start(
                    Tool.gstBridge,
                    [
                        "run", "--capture", pictures.sourceWithSound, "--output",
                        "whip:\(receive.origin)/whip?name=cam \(ServingProgram.token)",
                    ], environment: Self.environment)
                let path = directory.file("played.mkv")
                let recording = try network.client.start(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(share.origin)/whep \(ServingProgram.token)",
                        "--progress", "always", path,
                    ], environment: Self.environment)
                let watching = try network.client.start(
                    Tool.built("CallProbe"), ["watch", "\(share.origin)/whep"],
                    environment: Self.environment)
                try await watching.waitForOutput("shows 60")
                try await receive.waitForProgress("1 sender  ")
                try await recording.waitForErrors(to: "record pictures") {
                    $0.contains(#/[1-9][0-9]* frames /#)
                }
                try await network.pullCable()
                try await watching.waitForOutput("failed: ", within: .seconds(30))
                try await receive.process.waitForErrors(to: "miss the sender", within: .seconds(30))
                { $0.contains("cam has ended") || $0.contains("cam has gone") }
                let recorded = try await recording.end()
                #expect(recorded.status == 1)
                #expect(recorded.errors.contains("sent nothing"), "\(recorded.errors)")
                try await check(path)
                try await network.plugCable()
                try await watching.waitForOutput("shows again", within: .seconds(30))
                try await receive.process.waitForErrors(to: "have the sender again") {
                    $0.ranges(of: "cam sends").count == 2
                }
                try await receive.process.waitForErrors(to: "have pictures again") { errors in
                    errors.split(separator: "\n").last { $0.contains(" fps  ") }?
                        .contains(/^1 sender  [1-9]/) == true
                }
                sending.send(signal: SIGINT)
                #expect(try await sending.end().status == 0)
                let files = try #require(try await receive.end().files)
                #expect(files.count == 2)
                for file in files { try await check(file.path) }
                _ = try await share.end()
            }
        }
    }

    /// What was recorded is whole; how much it is depends on when its program was ready.
    private func check(_ path: String) async throws {
        let readings = try await NumberedPictures.readings(of: path)
        #expect(!readings.isEmpty)
        #expect(readings.isRising)
        #expect(readings.allSatisfy { $0.mean < 8 })
        #expect(try await MediaProbe(of: path).audio?.codec == "opus")
    }
}
