import TestSupport
import Testing

@testable import GStreamerKit
@testable import MediaBridge

@Suite(.hangGuard)
struct AudioTranslationTests {
    /// The raw audio of a capture string, as frames.
    private func frames(_ text: String) async throws -> [AudioFrame] {
        let capture = try Capture(text, depth: 100)
        let branch = capture.branches[0]
        let arrival = Signal()
        branch.pull { arrival.signal() }
        capture.prepare()
        try await capture.pipeline.setState(.playing)
        var frames: [AudioFrame] = []
        while !branch.isFinished {
            while let item = branch.tryPull() {
                guard case .sample(let sample) = item else { continue }
                frames.append(try #require(sample.audioFrame))
            }
            if let failure = capture.pipeline.failure { throw failure }
            if !branch.isFinished { await arrival.wait() }
        }
        try await capture.pipeline.setState(.null)
        return frames
    }

    @Test(arguments: [
        "S16LE", "S16BE", "S24LE", "S24_32LE", "U8", "S8", "S20BE", "U18LE", "F32LE", "F64BE",
    ])
    func everyFormatKeepsItsNameAndItsBytes(name: String) async throws {
        let frames = try await frames(
            "audiotestsrc num-buffers=3 samplesperbuffer=480 wave=sine ! audioconvert dithering=none ! "
                + "audio/x-raw,format=\(name),rate=48000,channels=2")
        #expect(frames.count == 3)
        for (index, frame) in frames.enumerated() {
            #expect(frame.format.sampleFormat.rawValue == name)
            #expect(frame.format.channelMask == 0x3)
            #expect(frame.sampleCount == 480)
            #expect(frame.runningTime == MediaTime(value: Int64(index), timescale: 100))
            #expect(frame.duration == MediaTime(value: 1, timescale: 100))
            // Silence in unsigned formats is not zero: the backend and the bridge agree on the
            // bytes.
            let count = try frame.withBytes { $0.byteCount }
            #expect(count == frame.format.byteCount(sampleCount: 480))
        }
    }

    /// Audio gets a deeper queue than video, unless the string sets the depth.
    @Test(arguments: [("", 64), ("max-buffers=2", 2)])
    func queueDepthSetInTheStringIsKept(properties: String, depth: Int) async throws {
        let capture = try Capture(
            "audiotestsrc num-buffers=3 ! appsink name=audio \(properties)", depth: 3)
        let branch = capture.branches[0]
        let arrival = Signal()
        branch.pull { arrival.signal() }
        capture.prepare()
        try await capture.pipeline.setState(.playing)
        while !branch.isFinished {
            while branch.tryPull() != nil { #expect(branch.sink.depth == depth) }
            if let failure = capture.pipeline.failure { throw failure }
            if !branch.isFinished { await arrival.wait() }
        }
        #expect(branch.translation.takenSamples == 3)
        try await capture.pipeline.setState(.null)
    }

    @Test(arguments: ["U8", "U16LE", "U16BE", "U18LE", "U20BE", "U24LE", "U24_32BE", "U32LE"])
    func silenceMatchesGStreamersSilence(name: String) async throws {
        let theirs = try #require(
            try await frames(
                "audiotestsrc num-buffers=1 samplesperbuffer=16 wave=silence ! "
                    + "audio/x-raw,format=S16LE,rate=8000,channels=1 ! audioconvert dithering=none ! "
                    + "audio/x-raw,format=\(name)"
            ).first)
        let ours = try AudioFrame(silence: theirs.format, sampleCount: 16, runningTime: nil)
        #expect(try ours.bytes == theirs.bytes)
    }

    @Test func pulledFrameIsPushedBackAsTheSameBuffer() async throws {
        let frame = try #require(
            try await frames("audiotestsrc num-buffers=1 ! audio/x-raw,format=S16LE,channels=2")
                .first)
        let wrapped = try frame.wrapped()
        let storage = try #require(frame.storage as? BufferAudioStorage)
        #expect(wrapped.buffer.pointer == storage.buffer.pointer)
    }

    @Test func partOfAFrameIsPassedOnWithoutACopy() async throws {
        let frame = try #require(
            try await frames("audiotestsrc num-buffers=1 ! audio/x-raw,format=S16LE,channels=2")
                .first)
        let part = frame.dropFirst(100).prefix(50)
        let wrapped = try part.wrapped()
        #expect(wrapped.buffer.byteCount == 200)
        let storage = BufferAudioStorage(
            wrapped.buffer.retained(), try AudioFrameLayout.of(frame.format))
        let address = try AudioFrame(storage, runningTime: nil)
            .withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        let start = try part.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(address == start)
    }

    @Test(arguments: [1, 2, 6, 12, 20])
    func planarSwiftMemoryIsWrappedWithoutACopy(channels: Int) throws {
        let format = AudioFormat(
            .f32le, sampleRate: 48000, channels: channels, isPlanar: true, channelMask: 0)
        var frame = try AudioFrame(silence: format, sampleCount: 32, runningTime: .zero)
        for channel in 0..<channels {
            try frame.withMutableSamples(as: Float.self, plane: channel) { samples in
                for i in samples.indices { samples[i] = Float(channel * 100 + i) / 4096 }
            }
        }
        let part = frame.dropFirst(8)
        let wrapped = try part.wrapped()
        var packed = format
        packed.isPlanar = false
        let chain = try ElementChain("audioconvert", to: AudioInfo(packed).caps)
        let caps = wrapped.caps
        let out = try chain.process(wrapped.buffer.retained(), caps: caps)
        let layout = try #require(AudioInfo(out.caps).flatMap { AudioFrameLayout($0) })
        let result = AudioFrame(
            BufferAudioStorage(out.buffer.retained(), layout), runningTime: nil)
        #expect(!result.format.isPlanar)
        #expect(result.sampleCount == 24)
        for channel in 0..<channels {
            #expect(
                try result.channel(channel, as: Float.self)
                    == part.channel(channel, as: Float.self))
        }
    }

    @Test func planarAudioIsReadAndWrittenByChannel() async throws {
        var frame = try #require(
            try await frames(
                "audiotestsrc num-buffers=1 samplesperbuffer=64 ! audioconvert ! "
                    + "audio/x-raw,format=F32LE,layout=non-interleaved,channels=2"
            ).first)
        #expect(frame.format.isPlanar)
        let right = try frame.channel(1, as: Float.self)
        try frame.withMutableSamples(as: Float.self, plane: 0) { samples in
            for i in samples.indices { samples[i] = 0 }
        }
        #expect(try frame.channel(0, as: Float.self).allSatisfy { $0 == 0 })
        #expect(try frame.channel(1, as: Float.self) == right)
        let part = frame.dropFirst(10).prefix(20)
        let wrapped = try part.wrapped()
        let layout = try #require(AudioInfo(wrapped.caps).flatMap { AudioFrameLayout($0) })
        let again = AudioFrame(
            BufferAudioStorage(wrapped.buffer.retained(), layout), runningTime: nil)
        #expect(try again.channel(1, as: Float.self) == Array(right[10..<30]))
    }

    @Test func formatsSurviveAConversionToCaps() throws {
        for channels in [1, 2, 3, 4, 5, 6, 7, 8, 12, 64] {
            for isPlanar in [false, true] {
                let format = AudioFormat(
                    .s32le, sampleRate: 44100, channels: channels, isPlanar: isPlanar)
                #expect(AudioFormat(try AudioInfo(format)) == format)
            }
        }
        #expect(throws: PipelineError.self) {
            try AudioInfo(AudioFormat(sampleRate: 48000, channels: 3, channelMask: 0x3))
        }
    }
}

extension AudioFrame {
    var bytes: [UInt8] {
        get throws {
            try withBytes { span in span.withUnsafeBytes { [UInt8]($0) } }
        }
    }
}
