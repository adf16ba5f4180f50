import Foundation
import MediaBridge
import TestSupport
import Testing

/// Runs the pipeline files that need no hardware; ffprobe counts what they wrote.
@Suite("Recordings of pipeline files", .hangGuard) struct PipelineRecordingTests {
    @Test func testPatternIsRecorded() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let plan = try PipelineFolder.plan(
                "test-to-file.yaml", setting: ["file": path], frames: 45)
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            #expect(report.ended == .frames)
            #expect(report.outputs["file"]?.frames == 45)
            let probe = try await MediaProbe(of: path)
            #expect(probe.container == "matroska,webm")
            #expect(probe.video?.codec == "h264")
            #expect(probe.video?.width == 1280 && probe.video?.height == 720)
            #expect(probe.video?.frames == 45)
        }
    }

    @Test(arguments: ["clip.mkv", "clip.mp4"])
    func everyFrameAndSampleOfAFileIsRecorded(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let clip = Clip()
            let input = try await clip.make(at: directory.file(name))
            let path = directory.file("copy.mkv")
            let plan = try PipelineFolder.plan(
                "file-to-file.yaml", setting: ["input": input, "file": path])
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            #expect(report.ended == .eos)
            #expect(report.captures["video"]?.frames == clip.frames)
            #expect(report.captures["video"]?.dropped.total == 0)
            #expect(report.captures["audio"]?.dropped.total == 0)

            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.codec == "h264" && probe.video?.frames == clip.frames)
            #expect(probe.audio?.codec == "opus" && probe.audio?.sampleRate == 48000)
            #expect(probe.audio?.channels == 2)
            let before = try await MediaProbe.videoTimes(of: input)
            let after = try await MediaProbe.videoTimes(of: path)
            #expect(after.count == before.count)
            // Matroska times have a resolution of one millisecond.
            #expect(zip(before, after).allSatisfy { abs($0 - $1) < 0.002 })
            // Nothing is missing. The last Opus block may be padded with silence, and AAC adds the
            // padding of its blocks.
            let samples = try await MediaProbe.audioSamples(of: path)
            #expect((clip.samples...clip.samples + 2048 + 960).contains(samples))
        }
    }

    @Test func recordsAFileWithoutAudioAndWarns() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.hasAudio = false
            let input = try await clip.make(at: directory.file("silent.mp4"))
            let path = directory.file("copy.mkv")
            let plan = try PipelineFolder.plan(
                "file-to-file.yaml", setting: ["input": input, "file": path])
            let bridge = try Bridge(plan)
            let warnings = Observed<[PipelineError]>([])
            bridge.onEvent { event in
                if case .warned(let warning) = event { warnings.change { $0.append(warning) } }
            }
            let report = try await bridge.run().get()
            #expect(report.ended == .eos)
            #expect(warnings.value.contains { $0.message.contains("\"audio\" never appeared") })
            #expect(try await MediaProbe(of: path).video?.frames == clip.frames)
        }
    }

    @Test func theDemoRecordsInBlackAndWhite() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("demo.mkv")
            var plan = try PipelineFolder.plan(
                "demo.yaml", setting: ["file": path], frames: 30)
            plan.captures =
                BridgePlan(
                    capture: """
                        videotestsrc pattern=red
                        ! video/x-raw,format=I420,width=320,height=240,framerate=30/1
                        """
                ).captures
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            #expect(report.outputs["file"]?.frames == 30)
            #expect(try await MediaProbe(of: path).video?.frames == 30)
            let pixel = try await MediaProbe.colour(of: path)
            #expect(
                pixel.blue >= pixel.red - 3 && pixel.red >= pixel.blue - 3, "\(pixel) is not grey")
        }
    }

    @Test func picturesAreNumbered() async throws {
        try await withTemporaryDirectory { directory in
            let plan = try PipelineFolder.plan(
                "mjpeg-snapshots.yaml", setting: ["pictures": directory.file("p-%05d.jpg")],
                frames: 4)
            try await Bridge(plan).run().get()
            let expected = (0..<4).map { "p-0000\($0).jpg" }
            #expect(directory.contents == expected)
            for name in expected {
                let picture = try #require(try await MediaProbe(of: directory.file(name)).video)
                #expect(picture.codec == "mjpeg" && picture.frames == 1)
                #expect(picture.width == 640 && picture.height == 480)
            }
        }
    }

    @Test func cameraAndMicrophoneAreRecordedIntoOneFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("call.webm")
            var plan = try PipelineFolder.plan(
                "microphone-and-camera-to-webm.yaml", setting: ["file": path], frames: 30)
            #expect(plan.captures.map(\.name) == ["video", "audio"])
            // Replaces only the two devices.
            plan.captures[0].text = """
                videotestsrc is-live=true num-buffers=30
                ! video/x-raw,format=I420,width=320,height=240,framerate=30/1
                """
            plan.captures[1].text = """
                audiotestsrc is-live=true num-buffers=100 samplesperbuffer=480 ! audioconvert
                ! audio/x-raw,rate=48000
                """
            // Both captures end by themselves, so that on a slow machine, too, the file has both.
            plan.frameLimit = nil
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            let video = try #require(report.captures["video"])
            #expect(video.frames + video.dropped.total == 30)
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.codec == "vp8" && probe.audio?.codec == "opus")
            #expect(probe.video?.frames == report.outputs["file"]?.frames)
            // The amount of audio by the thirtieth frame depends on the devices.
            #expect(try await MediaProbe.audioSamples(of: path) > 0)
        }
    }

    @Test func stringsRunUnchangedInGstLaunch() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let plan = try PipelineFolder.plan("test-to-file.yaml", setting: ["file": path])
            let text = "\(plan.captures[0].text) ! \(plan.outputs[0].text)"
                .replacing("videotestsrc", with: "videotestsrc num-buffers=20", maxReplacements: 1)
            try await Tool.check("gst-launch-1.0", ["-q"] + PipelineText(text).words)
            #expect(try await MediaProbe(of: path).video?.frames == 20)
        }
    }

    @Test func killedRecordingPlays() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("demo.mkv")
            let result = try await withChildProcess(
                Tool.gstBridge,
                [
                    "run", "\(PipelineFolder.path)/demo.yaml", "--set", "file=\(path)", "--capture",
                    "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 "
                        + "! progressreport update-freq=1",
                ]
            ) { child in
                // The encoder looks ahead: of the first seconds of media, a busy machine has
                // written only a few frames.
                try await child.waitForOutput("00:00:05")
                child.send(signal: SIGKILL)
                return try await child.end()
            }
            #expect(result.status == 128 + SIGKILL)
            // The number of frames in five seconds depends on the machine; most of them are in the
            // file.
            let frames = try await MediaProbe.videoTimes(of: path).count
            #expect(frames >= 10, "\(frames)")
        }
    }
}
