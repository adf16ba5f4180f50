import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// A capture that records through its own sink leaves a complete file however the run ends.
    @Suite(.hangGuard) struct CaptureSinkTests {
        /// How a run ends.
        enum Ending: String, CaseIterable {
            case itself, frames, duration, interrupt, terminate, outputFailure
        }

        private static func source(isLive: Bool, frames: Int? = nil) -> String {
            let end = frames.map { " num-buffers=\($0)" } ?? ""
            return "videotestsrc is-live=\(isLive)\(end) ! "
                + "video/x-raw,format=I420,width=160,height=120,framerate=30/1"
        }
        private static let encoder =
            "x264enc speed-preset=ultrafast tune=zerolatency key-int-max=10"

        /// - Parameter recording: The elements from the encoder's parser to a sink.
        private static func run(
            _ recording: String, isLive: Bool, until ending: Ending
        ) async throws -> Ended {
            let source = source(isLive: isLive, frames: ending == .itself ? 45 : nil)
            let capture =
                "\(source) ! tee name=t t. ! queue ! \(encoder) ! h264parse ! \(recording) "
                + "t. ! queue ! appsink"
            let output =
                ending == .outputFailure ? "identity error-after=20 ! fakesink" : "fakesink"
            let more: [String] =
                switch ending {
                case .frames: ["--frames", "20"]
                case .duration: ["--duration", "600ms"]
                default: []
                }
            return try await GstBridge.start(
                capture: capture, outputs: [output], more + ["--progress", "always"]
            ) { child in
                if ending == .interrupt || ending == .terminate {
                    try await child.waitForErrors(to: "count frames") {
                        InterruptionTests.framesSoFar($0) > 0
                    }
                    child.send(signal: ending == .interrupt ? SIGINT : SIGTERM)
                }
                return Ended(try await child.end())
            }
        }

        @Test(arguments: Ending.allCases, [true, false])
        func fileOfACaptureSinkPlaysHoweverTheRunEnds(ending: Ending, isLive: Bool) async throws {
            // Neighbouring cases use different muxers, so that each case meets most of them.
            let index = (Ending.allCases.firstIndex(of: ending) ?? 0) + (isLive ? 1 : 0)
            let muxer = ["qtmux", "mp4mux faststart=true", "matroskamux"][index % 3]
            try await withTemporaryDirectory { directory in
                let file = directory.file(muxer == "matroskamux" ? "own.mkv" : "own.mp4")
                let ended = try await Self.run(
                    "\(muxer) ! filesink location=\(file)", isLive: isLive, until: ending)
                #expect(
                    ended.status == (ending == .outputFailure ? 1 : 0), "\(muxer): \(ended.errors)")
                let frames = try await MediaProbe(of: file).video?.frames ?? 0
                #expect(ending == .itself ? frames == 45 : frames > 0, "\(muxer): \(frames)")
            }
        }

        // Captures that are not live are not interrupted: they write pieces as fast as they can.
        @Test(arguments: zip([Ending.frames, .frames, .interrupt], [true, false, true]))
        func everySegmentOfASplitRecordingPlays(ending: Ending, isLive: Bool) async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await Self.run(
                    "splitmuxsink max-size-time=330000000 location=\(directory.file("%03d.mp4"))",
                    isLive: isLive, until: ending)
                #expect(ended.status == 0, "\(ended.errors)")
                let pieces = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                #expect(!pieces.isEmpty)
                for piece in pieces {
                    let frames = try await MediaProbe(of: directory.file(piece)).video?.frames ?? 0
                    #expect(frames > 0, "\(piece)")
                }
            }
        }

        @Test func pictureFilesAreWritten() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.run(
                    capture: "\(Self.source(isLive: false)) ! tee name=t t. ! queue ! "
                        + "videoconvert ! pngenc ! multifilesink location=\(directory.file("%03d.png")) t. ! queue ! appsink",
                    outputs: [], ["--frames", "10"])
                #expect(ended.status == 0, "\(ended.errors)")
                let pictures = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                #expect(pictures.count >= 10)
                // ffprobe decodes all of the pictures as one film.
                let film = try await MediaProbe(of: directory.file("%03d.png")).video
                #expect(film?.codec == "png" && film?.frames == pictures.count)
            }
        }

        /// A second, endless chain in the capture string ends with the run.
        @Test(arguments: [true, false])
        func recordingBesideTheStreamPlays(isLive: Bool) async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("beside.mp4")
                let ended = try await GstBridge.run(
                    capture: "\(Self.source(isLive: isLive, frames: 30)) ! appsink "
                        + "\(Self.source(isLive: isLive)) ! \(Self.encoder) ! h264parse ! mp4mux ! "
                        + "filesink location=\(file)",
                    outputs: ["fakesink"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.ended == "eos")
                #expect(try await MediaProbe(of: file).video?.frames ?? 0 > 0)
            }
        }

        /// A stream of the file that lasts longer than the captured streams is recorded to its end.
        @Test func longerStreamOfTheFileIsRecordedToItsEnd() async throws {
            try await withTemporaryDirectory { directory in
                let film = directory.file("film.mkv")
                try await Tool.check(
                    "gst-launch-1.0",
                    [
                        "-q", "videotestsrc", "num-buffers=10", "!",
                        "video/x-raw,width=64,height=48,framerate=30/1", "!", "vp8enc", "!", "mux.",
                        "audiotestsrc", "num-buffers=430", "!", "opusenc", "!", "mux.",
                        "matroskamux", "name=mux", "!", "filesink", "location=\(film)",
                    ])
                let sound = directory.file("sound.wav")
                let ended = try await GstBridge.run(
                    capture:
                        "filesrc location=\(film) ! matroskademux name=d d. ! queue ! vp8dec ! "
                        + "appsink d. ! queue ! opusdec ! audioconvert ! wavenc ! "
                        + "filesink location=\(sound)",
                    outputs: ["fakesink"])
                #expect(ended.status == 0, "\(ended.errors)")
                // 430 × 1024 samples at 48 kHz; the video lasts a third of a second.
                let seconds = try #require(try await MediaProbe(of: sound).duration)
                #expect(seconds > 9.1)
            }
        }

        @Test func sinkThatDoesNotReachItsEndIsAFailure() async throws {
            // The sink's offset is one hour, so its frames are not due before then.
            let ended = try await GstBridge.run(
                capture: "\(Self.source(isLive: true)) ! tee name=t t. ! queue ! "
                    + "fakesink name=late sync=true ts-offset=3600000000000 t. ! queue ! appsink",
                outputs: ["fakesink"], ["--frames", "10"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("\"late\" in the capture did not finish"))
        }

        /// The sender has not started yet: there is nothing to complete and nothing to wait for.
        @Test func captureWithoutDataYetIsNotAFailure() async throws {
            try await withTemporaryDirectory { directory in
                let ended = try await GstBridge.start(
                    capture: "udpsrc port=\(try FreePort.udp()) ! tsdemux ! h264parse ! tee name=t "
                        + "t. ! queue ! mp4mux ! filesink location=\(directory.file("own.mp4")) "
                        + "t. ! queue ! avdec_h264 ! appsink",
                    outputs: ["fakesink"], ["--progress", "always"]
                ) { child in
                    try await child.waitForErrors(to: "say that it runs") { $0.contains(" fps ") }
                    child.send(signal: SIGINT)
                    return Ended(try await child.end())
                }
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(
                    ended.errors.contains("the stream video delivered nothing before the run ended")
                )
            }
        }

        /// The same applies to an output that adds its own sources to the captured frames.
        @Test func outputWithItsOwnSourceIsCompleted() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("mixed.mp4")
                let ended = try await GstBridge.run(
                    capture: Self.source(isLive: false, frames: 40),
                    outputs: [
                        "compositor name=c ! videoconvert ! \(Self.encoder) ! h264parse ! mp4mux ! "
                            + "filesink location=\(file) videotestsrc pattern=ball ! c. appsrc ! c."
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try await MediaProbe(of: file).video?.frames ?? 0 >= 40)
            }
        }

        /// If one of two files of an output fails, the other is complete.
        @Test func failedOutputCompletesItsOtherFile() async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.file("left.mp4")
                let ended = try await GstBridge.run(
                    capture: Self.source(isLive: false, frames: 200),
                    outputs: [
                        "tee name=t t. ! queue ! \(Self.encoder) ! h264parse ! mp4mux ! "
                            + "filesink location=\(file) "
                            + "t. ! queue ! identity error-after=50 ! fakesink"
                    ])
                #expect(ended.status == 1)
                #expect(try await MediaProbe(of: file).video?.frames ?? 0 >= 40)
            }
        }
    }
}
