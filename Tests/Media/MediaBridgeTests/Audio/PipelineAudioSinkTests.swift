import Foundation
import TestSupport
import Testing

@testable import MediaBridge

@Suite(.hangGuard)
struct PipelineAudioSinkTests {
    @Test func everySampleIsWrittenToTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("tone.wav")
            let sink = try PipelineAudioSink("wavenc ! filesink location=\(path)")
            for index in 0..<100 { try await sink.write(try block(index)) }
            let report = try await sink.finish()
            expectBalanced(report.balance)
            #expect(report.balance.offered == 100)
            #expect(report.dropped.total == 0)
            let found = try await raw(path)
            let expected = (0..<48000).flatMap { index -> [Int16] in
                [Int16(truncatingIfNeeded: index), -1]
            }
            #expect(found == expected)
        }
    }

    @Test func unsupportedSampleRateIsResampled() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("tone.ogg")
            let source = try PipelineAudioSource(
                "audiotestsrc num-buffers=100 samplesperbuffer=441 ! "
                    + "audio/x-raw,format=F32LE,rate=44100,channels=1")
            // Opus does not support 44.1 kHz.
            let sink = try PipelineAudioSink("opusenc ! oggmux ! filesink location=\(path)")
            for try await frame in source.frames() { try await sink.write(frame) }
            try await sink.finish()
            let probe = try await MediaProbe(of: path)
            #expect(probe.audio?.codec == "opus")
            let samples = try await MediaProbe.audioSamples(of: path)
            #expect(abs(samples - 48000) < 500)
        }
    }

    @Test func fivePointOneKeepsItsChannels() async throws {
        try await withTemporaryDirectory { directory in
            let (original, copy) = (directory.file("in.mka"), directory.file("out.mka"))
            var arguments = ["-v", "error"]
            for frequency in [200, 300, 400, 60, 500, 600] {
                arguments += [
                    "-f", "lavfi", "-i", "sine=f=\(frequency):r=48000:duration=0.5",
                ]
            }
            try await Tool.check(
                "ffmpeg",
                arguments + [
                    "-filter_complex", "join=inputs=6:channel_layout=5.1", "-c:a", "flac", original,
                ])
            let source = try PipelineAudioSource("filesrc location=\(original) ! decodebin")
            let sink = try PipelineAudioSink(
                "flacenc ! matroskamux ! filesink location=\(copy)")
            for try await frame in source.frames() {
                #expect(frame.channels == 6)
                #expect(frame.sampleRate == 48000)
                #expect(frame.format.channelMask == 0x3f)
                try await sink.write(frame)
            }
            try await sink.finish()
            let probe = try await MediaProbe(of: copy)
            #expect(probe.audio?.channels == 6)
            #expect(probe.audio?.sampleRate == 48000)
            #expect(try await raw(copy) == raw(original))
        }
    }

    @Test func videoAndAudioGoIntoOneFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            let film = try PipelineVideoSource(
                "videotestsrc num-buffers=60 ! "
                    + "video/x-raw,width=64,height=48,framerate=30/1 ! appsink name=video "
                    + "audiotestsrc num-buffers=60 samplesperbuffer=1600 ! "
                    + "audio/x-raw,rate=48000,channels=2 ! appsink name=audio")
            let pictures = try PipelineVideoSink(
                "appsrc name=video ! x264enc speed-preset=ultrafast ! mux. "
                    + "appsrc name=audio ! audioconvert ! avenc_aac ! mux. "
                    + "matroskamux name=mux ! filesink location=\(path)")
            let (from, to) = (try #require(film.audio), try #require(pictures.audio))
            async let sound: Void = {
                for try await frame in from.frames() { try await to.write(frame) }
                try await to.finish()
            }()
            for try await frame in film.frames() { try await pictures.write(frame) }
            try await pictures.finish()
            try await sound
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 60)
            #expect(probe.audio?.channels == 2)
            let samples = try await MediaProbe.audioSamples(of: path)
            #expect(abs(samples - 96000) <= 2048)
        }
    }

    @Test(arguments: [false, true])
    func streamThatBeginsAfterTheOtherEndsCompletesTheFile(
        soundIsFirst: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            var configuration = PipelineVideoSink.Configuration()
            configuration.queue = QueueLimit(buffers: 20)
            configuration.whenFull = .wait
            let pictures = try film(path, configuration)
            let sound = try #require(pictures.audio)
            let hasTen = Happening()
            let end = Task {
                await hasTen.wait()
                if soundIsFirst { try await sound.finish() } else { try await pictures.finish() }
            }
            // The muxer waits for the other stream, so the first one blocks until it is finished.
            if soundIsFirst { try await sound.start() } else { try await pictures.start() }
            let count = try await onControl {
                var count = 0
                while true {
                    let disposition =
                        soundIsFirst
                        ? sound.consume(try block(count)) : pictures.consume(try picture(count))
                    guard disposition.isAccepted else { return count }
                    count += 1
                    if count == 10 { hasTen.happen() }
                }
            }
            for index in 0..<10 {
                if soundIsFirst {
                    try await pictures.write(picture(index))
                } else {
                    try await sound.write(block(index))
                }
            }
            if soundIsFirst { try await pictures.finish() } else { try await sound.finish() }
            try await end.value
            let (frames, blocks) = soundIsFirst ? (10, count) : (count, 10)
            #expect(try await MediaProbe(of: path).video?.frames == frames)
            #expect(try await raw(path).count == 2 * 480 * blocks)
        }
    }

    @Test func unwrittenAudioDoesNotBlockTheEnd() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            var configuration = PipelineVideoSink.Configuration()
            configuration.stallTimeout = .seconds(2)
            let pictures = try film(path, configuration)
            let sound = try #require(pictures.audio)
            for index in 0..<10 { try await pictures.write(try picture(index)) }
            try await pictures.finish()
            #expect(sound.consume(try block(0)) == .dropped(.closed))
            #expect(try await MediaProbe(of: path).video?.frames == 10)
        }
    }

    @Test func writersThatStartTogetherShareOneRun() async throws {
        for _ in 0..<20 {
            let pictures = try PipelineVideoSink(
                "appsrc name=video ! fakesink appsrc name=audio ! fakesink")
            let sound = try #require(pictures.audio)
            // Before the second run the appsrcs refuse data until the pipeline has started.
            for _ in 0..<2 {
                async let first: Void = {
                    try await pictures.start()
                    try await pictures.write(try picture(0))
                }()
                async let second: Void = {
                    try await sound.start()
                    try await sound.write(try block(0))
                }()
                _ = try await (first, second)
                try await pictures.finish()
                try await sound.finish()
                #expect(pictures.statistics.frames == 1)
                #expect(sound.statistics.frames == 1)
            }
        }
    }

    private func film(
        _ path: String, _ configuration: PipelineVideoSink.Configuration = .init()
    ) throws -> PipelineVideoSink {
        try PipelineVideoSink(
            "appsrc name=video ! x264enc speed-preset=ultrafast tune=zerolatency ! mux. "
                + "appsrc name=audio ! audioconvert ! mux. "
                + "matroskamux name=mux ! filesink location=\(path)",
            configuration: configuration)
    }

    private func picture(_ index: Int) throws -> VideoFrame {
        try VideoFrame(
            VideoFormat(.i420, width: 160, height: 120, frameRate: .init(30, 1)),
            runningTime: MediaTime(value: Int64(index), timescale: 30))
    }

    @Test func outputWithoutAudioEndsItsAudioStream() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            let pictures = try PipelineVideoSink(
                "appsrc name=video ! x264enc speed-preset=ultrafast tune=zerolatency ! mux. "
                    + "appsrc name=audio ! audioconvert ! avenc_aac ! mux. "
                    + "matroskamux name=mux ! filesink location=\(path)")
            let film = try PipelineVideoSource(
                "videotestsrc num-buffers=200 ! video/x-raw,width=64,height=48,framerate=30/1")
            for try await frame in film.frames() { try await pictures.write(frame) }
            try await pictures.finish()
            #expect(try await MediaProbe(of: path).video?.frames == 200)
        }
    }

    @Test(arguments: [false, true])
    func everyOutputSharesTheMemoryOfTheCapture(isLive: Bool) async throws {
        let source = try PipelineAudioSource(
            "audiotestsrc is-live=\(isLive) num-buffers=20 samplesperbuffer=480 ! "
                + "audio/x-raw,format=S16LE,rate=48000,channels=2")
        let sinks = try (0..<3).map { _ in
            try PipelineAudioSink(
                "appsrc name=audio ! queue ! appsink name=out sync=false max-buffers=100")
        }
        var captured: [UInt] = []
        var held: [AudioFrame] = []  // so that no address is used twice
        for try await frame in source.frames() {
            captured.append(
                try frame.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } })
            held.append(frame)
            for sink in sinks { try await sink.write(frame) }
        }
        for sink in sinks {
            let out = try #require(sink.pipeline.appSinks["out"])
            let arrival = Signal()
            out.setHandlers(
                onSample: {
                    arrival.signal()
                    return true
                }, onEnd: { arrival.signal() })
            let finishing = Task { try await sink.finish() }
            var received: [UInt] = []
            while received.count < captured.count {
                while let address = out.tryPull()?.address { received.append(address) }
                if received.count < captured.count { await arrival.wait() }
            }
            #expect(received == captured)
            out.removeHandlers()
            _ = try await finishing.value
        }
    }

    @Test func samplesWrittenOverSilenceAreAudible() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("written.wav")
            // The source marks its buffers as gaps, which converters treat as silence without
            // reading them.
            let source = try PipelineAudioSource(
                "audiotestsrc wave=silence num-buffers=10 ! "
                    + "audio/x-raw,format=S16LE,rate=48000,channels=1")
            let sink = try PipelineAudioSink(
                "audioconvert ! audio/x-raw,format=S32LE ! wavenc ! filesink location=\(path)")
            for try await var frame in source.frames() {
                try frame.withMutableSamples(as: Int16.self) { samples in
                    for index in samples.indices { samples[index] = 1234 }
                }
                try await sink.write(frame)
            }
            try await sink.finish()
            let heard = try await raw(path)
            #expect(heard.count == 10240)
            #expect(heard.allSatisfy { $0 == 1234 })
        }
    }

    @Test func aFrameWithoutSamplesOrTimeIsRefused() async throws {
        let sink = try PipelineAudioSink("fakesink")
        try await sink.start()
        var frame = try block(0)
        #expect(sink.consume(frame.prefix(0)) == .dropped(.badSize))
        frame.runningTime = nil
        #expect(sink.consume(frame) == .dropped(.noTime))
        try await sink.finish()
        #expect(sink.consume(frame) == .dropped(.noTime))
    }

    /// Ten milliseconds of stereo in which the value of each left sample is its own number.
    private func block(_ index: Int) throws -> AudioFrame {
        try AudioFrame(
            copying: (0..<480).flatMap { place -> [Int16] in
                [Int16(truncatingIfNeeded: index * 480 + place), -1]
            },
            sampleRate: 48000, channels: 2,
            runningTime: MediaTime(value: Int64(index), timescale: 100))
    }

    /// The samples of a file, as ffmpeg decodes them.
    private func raw(_ path: String) async throws -> [Int16] {
        try await Tool.check(
            "ffmpeg", ["-v", "error", "-y", "-i", path, "-f", "s16le", path + ".raw"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + ".raw"))
        return bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
}
