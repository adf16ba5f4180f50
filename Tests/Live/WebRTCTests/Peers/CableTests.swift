import Foundation
import TestSupport
import Testing

/// A cable pulled for longer than a peer may be silent, during WHIP and WHEP sessions.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CableTests {
    @Test func mediaResumesAfterCableLossAndRecordingsAreComplete() async throws {
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
                        "run", "--capture", pictures.sourceWithSound, "--output",
                        "whip:\(receive.origin)/whip?name=cam \(ServingProgram.token)",
                    ])
                let path = directory.file("played.mkv")
                let recording = try network.client.start(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(share.origin)/whep \(ServingProgram.token)",
                        "--progress", "always", path,
                    ])
                let watching = try network.client.start(
                    Tool.built("CallProbe"), ["watch", "\(share.origin)/whep"])
                try await watching.waitForOutput("shows pictures")
                try await receive.waitForRecording(of: "cam")
                try await receive.waitForPictures(15)
                try await recording.waitForErrors(to: "record pictures") {
                    $0.contains(#/[1-9][0-9]+ frames /#)
                }
                try await network.pullCable()
                try await watching.waitForOutput("failed: ")
                try await receive.process.waitForErrors(to: "miss the sender") {
                    $0.contains("cam has stopped sending") || $0.contains("cam has disconnected")
                }
                let recorded = try await recording.end()
                #expect(recorded.status == 1)
                #expect(recorded.errors.contains("sent nothing"), "\(recorded.errors)")
                try await checkPlayed(path)
                let recordings = receive.process.errors.ranges(of: "/cam-").count
                try await network.plugCable()
                try await watching.waitForOutput("shows again")
                try await receive.process.waitForErrors(to: "record the sender again") {
                    $0.ranges(of: "/cam-").count > recordings
                }
                try await receive.waitForPictures(15)
                sending.send(signal: SIGINT)
                #expect(try await sending.end().status == 0)
                let files = try #require(try await receive.end().files)
                // A busy machine may cause one more interruption.
                #expect(files.count >= 2)
                for file in files { try await file.check() }
                _ = try await share.end()
            }
        }
    }

    private func checkPlayed(_ path: String) async throws {
        let readings = try await NumberedPictures.readings(of: path)
        #expect(readings.count >= 10)
        #expect(readings.map(\.number).areInOrder())
        #expect(readings.allSatisfy { $0.mean < 8 })
        #expect(try await MediaProbe(of: path).audio?.codec == "opus")
    }
}
