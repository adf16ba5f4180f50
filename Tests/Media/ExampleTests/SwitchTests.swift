import Foundation
import TestSupport
import Testing

extension ExampleTests {
    /// Several sources in turn, in one recording.
    @Suite(.hangGuard) struct SwitchTests {
        @Test func switchingCamerasRecordsNoBlackFrame() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("cameras.mkv")
                try await Example.run(
                    "camera-switch", "--front", Example.camera("white"), "--back",
                    Example.camera("smpte"), "--seconds", "0.4", "--switches", "3", path)
                let luma = try await MediaProbe.meanLuma(of: path)
                #expect(try #require(luma.min()) > 60, "a black frame")
                #expect(Self.turns(of: luma.map { $0 > 200 }) == [true, false, true, false])
                let times = try await MediaProbe.videoTimes(of: path)
                #expect(times.count == luma.count)
                #expect(times == times.sorted() && times.first == 0)
            }
        }

        @Test func camerasWithDifferentFrameRatesShareOneFile() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("cameras.mkv")
                try await Example.run(
                    "camera-switch", "--front", Example.camera("white"), "--back",
                    Example.camera("smpte").replacing("=30/1", with: "=15/1"), "--seconds", "0.4",
                    "--switches", "3", path)
                let luma = try await MediaProbe.meanLuma(of: path)
                #expect(Self.turns(of: luma.map { $0 > 200 }) == [true, false, true, false])
                let times = try await MediaProbe.videoTimes(of: path)
                #expect(times.count == luma.count && times == times.sorted())
            }
        }

        @Test func traceMatchesTheArticle() async throws {
            let article = try Repository.text(
                "Sources/MediaBridge/MediaBridge.docc/StateMachine.md")
            let shown = try #require(
                article.components(separatedBy: "--trace out.mkv` prints:\n\n```\n").dropFirst()
                    .first?.components(separatedBy: "```").first)
            try await withTemporaryDirectory { directory in
                let said = try await Example.run(
                    "camera-switch", "--switches", "1", "--trace", "--seconds", "0.2",
                    directory.file("out.mkv"))
                #expect(said.hasSuffix("out.mkv\n" + shown))
            }
        }

        @Test func recordingKeepsTheSizeOfItsFirstFrame() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("cameras.mkv")
                try await Example.run(
                    "camera-switch", "--front", Example.camera("white"), "--back",
                    Example.camera("red", "width=640,height=480"), "--seconds", "0.4", "--switches",
                    "2", path)
                let video = try await MediaProbe(of: path).video
                #expect(video?.width == 320 && video?.height == 240)
                let luma = try await MediaProbe.meanLuma(of: path)
                #expect(Self.turns(of: luma.map { $0 > 200 }) == [true, false, true])
            }
        }

        @Test func failedSourceStartIsReportedAndTheRecordingIsKept() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("cameras.mkv")
                let result = try await Example.fail(
                    "camera-switch", "--back", "filesrc location=/no/camera ! decodebin",
                    "--seconds", "0.4", path)
                #expect(result.status == 1)
                #expect(result.errors.contains("/no/camera"))
                #expect(try await MediaProbe(of: path).video?.frames ?? 0 > 0)
            }
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func aSignalCompletesTheRecording(signal: Int32) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("cameras.mkv")
                try await withChildProcess(
                    Example.program, ["camera-switch", "--switches", "1000", path],
                    environment: Example.noDisplay
                ) { child in
                    try await child.waitForErrors(to: "switch the camera") {
                        $0.contains("switched")
                    }
                    child.send(signal: signal)
                    let result = try await child.end()
                    #expect(result.status == 0, "\(result.errors)")
                    let frames = try #require(try await MediaProbe(of: path).video?.frames)
                    #expect(result.output.hasPrefix("\(frames) frames"))
                }
            }
        }

        /// The sequence of kinds, with each run of equal values reduced to one.
        private static func turns<Kind: Equatable>(of kinds: [Kind]) -> [Kind] {
            kinds.indices.filter { $0 == 0 || kinds[$0] != kinds[$0 - 1] }.map { kinds[$0] }
        }
    }
}
