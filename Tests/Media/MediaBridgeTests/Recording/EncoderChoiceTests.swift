import CMediaBridge
import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// Hardware encoders, replaced by other elements with the same names.
@Suite(.hangGuard, .serialized) struct EncoderChoiceTests {
    init() throws {
        try GStreamer.initialize()
        // These encode, and have some of the properties only.
        _ = try StandInEncoder("vah264enc", "x264enc")
        try register("qsvh265enc", as: "x265enc")
        // These take no pictures.
        try register("nvh264enc", as: "lamemp3enc")
        try register("vah265enc", as: "opusenc")
    }

    /// Registers an element under a second name, unless a plugin has found the hardware.
    private func register(_ name: String, as other: String) throws {
        guard gst_element_factory_find(name) == nil else { return }
        let factory = try #require(gst_element_factory_find(other))
        let loaded = try #require(gst_plugin_feature_load(factory))
        let type = gst_element_factory_get_element_type(loaded)
        #expect(gst_element_register(nil, name, 0, type) != 0)
    }

    /// Records 30 pictures.
    ///
    /// - Returns: The encoder in the report, and the codec and the number of frames in the file.
    private func record(
        _ codec: VideoCodec?, _ encoder: EncoderChoice, _ ending: String = "mkv",
        format: String = "I420", bitRate: Int? = nil
    ) async throws -> String {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var configuration = Recorder.Configuration()
            var encoding = VideoEncoding(codec, bitRate: bitRate)
            encoding.encoder = encoder
            configuration.video = encoding
            var plan = BridgePlan(
                capture: "videotestsrc num-buffers=30 pattern=ball ! "
                    + "video/x-raw,format=\(format),width=320,height=240,framerate=30/1",
                outputs: []
            )
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            let bridge = try Bridge(plan)
            try await bridge.run().get()
            let video = try await MediaProbe(of: path).video
            let element = bridge.recorders[0].report.video?.encoder ?? ""
            return "\(element) \(video?.codec ?? "") \(video?.frames ?? 0)"
        }
    }

    @Test(arguments: ["mkv", "mp4", "ts"])
    func hardwareEncoderIsUsedWhereItWorks(ending: String) async throws {
        #expect(try await record(.h264, .hardware, ending) == "vah264enc h264 30")
        #expect(try await record(nil, .element("vah264enc"), ending) == "vah264enc h264 30")
        #expect(
            try await record(.h264, .hardware, ending, format: "UYVY", bitRate: 300_000)
                == "vah264enc h264 30")
    }

    @Test func hardwareEncoderReceivesFramesInItsMemory() async throws {
        try StandInMemory.register("nvav1enc", "av1enc")
        #expect(try await record(.av1, .element("nvav1enc")) == "nvav1enc av1 30")
    }

    @Test func brokenEncoderIsSkipped() async throws {
        #expect(try await record(.h265, .hardware) == "qsvh265enc hevc 30")
    }

    @Test func softwareEncoderIsTheDefault() async throws {
        #expect(try await record(.h264, .automatic) == "x264enc h264 30")
        #expect(try await record(nil, .software) == "x264enc h264 30")
        #expect(try await record(.h265, .automatic) == "x265enc hevc 30")
    }

    @Test func brokenEncoderIsAnErrorWithTheReason() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await record(.h264, .element("nvh264enc"))
        }
        #expect(error?.message.contains("nvh264enc: could not link") == true, "\(error as Any)")
    }

    @Test func encoderForAnotherCodecIsAnError() async throws {
        for (codec, ending) in [(VideoCodec.vp8, "mkv"), (nil, "webm")] {
            let error = await #expect(throws: PipelineError.self) {
                try await record(codec, .element("vah264enc"), ending)
            }
            #expect(error?.code == .badValue, "\(error as Any)")
        }
    }

    @Test func encoderNamesMatchTheCommand() {
        #expect(EncoderChoice("hardware") == .hardware)
        #expect(EncoderChoice("v4l2h264enc") == .element("v4l2h264enc"))
        #expect(EncoderChoice("nosuchenc") == nil)
    }
}
