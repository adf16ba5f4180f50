import Foundation
import GStreamerKit
import TestSupport
import Testing

@testable import MediaBridge

/// Encoded video units, from sources and programs to outputs and recordings.
@Suite("Encoded units", .hangGuard) struct UnitTests {
    private static let films = CopyTests.films.filter { !$0.0.isSound }

    private static func units(of capture: String) async throws -> [EncodedVideoFrame] {
        var units: [EncodedVideoFrame] = []
        for try await unit in try PipelineVideoSource(capture).encodedFrames() {
            units.append(unit)
        }
        return units
    }

    @Test(arguments: films)
    func unitsMatchThePacketsOfAFile(film: CopyTests.Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let capture = try await film.capture(in: directory)
            let source = directory.file("source-\(film.codec)")
            let units = try await Self.units(of: capture)
            #expect(units.count == 60)
            let first = try #require(units.first)
            #expect(first.isKeyFrame)
            #expect(first.size == VideoSize(width: 160, height: 120))
            let isInLengths = ["h264", "hevc"].contains(film.codec)
            #expect((first.codecData != nil) == isInLengths)
            #expect(units.allSatisfy { $0.runningTime != nil && $0.byteCount > 0 })
            // ffprobe reads the same flags in the file.
            let keys = try await MediaProbe.keyPackets(of: source)
            #expect(units.map(\.isKeyFrame) == keys)

            for ending in endings where ending != "ts" {
                let path = directory.file("out.\(ending)")
                let recorder = try Recorder(path)
                try recorder.start()
                for unit in units { try await recorder.write(unit) }
                let report = try await recorder.stop()
                expectBalanced(report)
                #expect(report.video?.written == 60 && report.video?.encoder == "copy")
                #expect(try await MediaProbe.packets(of: path) == MediaProbe.packets(of: source))
            }
        }
    }

    @Test(arguments: CopyTests.films.filter { $0.0.isSound })
    func audioUnitsMatchThePacketsOfAFile(film: CopyTests.Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let capture = try await film.capture(in: directory)
            let source = directory.file("source-\(film.codec)")
            var units: [EncodedAudioFrame] = []
            for try await unit in try PipelineAudioSource(capture).encodedFrames() {
                units.append(unit)
            }
            let first = try #require(units.first)
            #expect(first.sampleRate == (film.codec == "pcm_alaw" ? 8000 : 48000))
            #expect(first.channels == (film.codec == "pcm_alaw" ? 1 : 2))
            for ending in endings where ending != "ts" {
                let path = directory.file("out.\(ending)")
                var configuration = Recorder.Configuration()
                (configuration.video, configuration.audio) = (nil, AudioEncoding())
                let recorder = try Recorder(path, configuration: configuration)
                try recorder.start()
                for unit in units { try await recorder.write(unit) }
                let report = try await recorder.stop()
                expectBalanced(report)
                #expect(report.audio?.encoder == "copy")
                let (packets, expected) = try await (
                    MediaProbe.packets(of: path), MediaProbe.packets(of: source)
                )
                #expect(
                    packets == expected,
                    "\(ending): \(packets.count) of \(expected.count), \(report)")
            }
            guard film.codec == "opus" else { return }
            let path = directory.file("out.ogg")
            let sink = try PipelineAudioSink("opusparse ! oggmux ! filesink location=\(path)")
            for unit in units { try await sink.write(unit) }
            try await sink.finish()
            // ffmpeg reads the samples to skip from the first packet of Ogg.
            let (packets, expected) = try await (
                MediaProbe.packets(of: path), MediaProbe.packets(of: source)
            )
            #expect(packets.count == expected.count)
            #expect(packets.dropFirst() == expected.dropFirst())
        }
    }

    /// The stream formats in which a program may have the bytes.
    @Test(arguments: [
        ("opus", "opusenc", AudioCodec.opus, "mkv"),
        ("aac", "voaacenc ! audio/mpeg,stream-format=adts", .aac, "mkv"),
        ("aac", "voaacenc ! audio/mpeg,stream-format=adts", .aac, "mp4"),
        ("aac", "voaacenc ! audio/mpeg,stream-format=adts", .aac, "ts"),
        ("aac", "voaacenc ! audio/mpeg,stream-format=raw", .aac, "mp4"),
        ("mp3", "lamemp3enc ! mpegaudioparse", .mp3, "mkv"),
        ("pcm_alaw", "audioresample ! audio/x-raw,rate=8000 ! alawenc", .alaw, "mkv"),
        ("pcm_mulaw", "audioresample ! audio/x-raw,rate=8000 ! mulawenc", .mulaw, "mkv"),
    ])
    func audioUnitsOfAProgramAreRecorded(
        name: String, encoding: String, codec: AudioCodec, ending: String
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var configuration = Recorder.Configuration()
            (configuration.video, configuration.audio) = (nil, AudioEncoding())
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let source = try PipelineAudioSource(
                "audiotestsrc num-buffers=50 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=2 "
                    + "! audioconvert ! \(encoding)")
            var count = 0
            for try await unit in source.encodedFrames() {
                #expect(unit.codec == codec)
                count += 1
                try await recorder.write(
                    EncodedAudioFrame(
                        codec, bytes: unit.bytes, codecData: unit.codecData,
                        runningTime: unit.runningTime, duration: unit.duration,
                        sampleRate: unit.sampleRate, channels: unit.channels))
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.audio?.written == count)
            let stream = try await MediaProbe(of: path).audio
            #expect(stream?.codec == name && stream?.channels == 2)
        }
    }

    @Test(arguments: [false, true])
    func reorderedFramesKeepBothTimesThroughASink(isOfProgram: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let film = CopyTests.reordered
            let capture = try await film.capture(in: directory)
            let path = directory.file("out.mp4")
            let sink = try PipelineVideoSink("h264parse ! mp4mux ! filesink location=\(path)")
            var isReordered = false
            for try await unit in try PipelineVideoSource(capture).encodedFrames() {
                let decoded = try #require(unit.decodingTime)
                if let shown = unit.runningTime, shown > decoded { isReordered = true }
                guard isOfProgram else {
                    try await sink.write(unit)
                    continue
                }
                var own = EncodedVideoFrame(
                    unit.codec, bytes: unit.bytes, codecData: unit.codecData,
                    runningTime: unit.runningTime)
                own.decodingTime = decoded
                own.duration = unit.duration
                try await sink.write(own)
            }
            #expect(isReordered)
            #expect(try await sink.finish().frames == 60)
            let source = directory.file("source-\(film.codec)")
            #expect(try await MediaProbe.packets(of: path) == MediaProbe.packets(of: source))
            let (times, expected) = try await (
                MediaProbe.videoTimes(of: path), MediaProbe.videoTimes(of: source)
            )
            let shift = times[0] - expected[0]
            #expect(
                zip(times, expected).allSatisfy { abs($0 - $1 - shift) < 0.001 },
                "\(times), \(expected)")
        }
    }

    @Test(arguments: EncodedUnits.codecs)
    func unitsOfAProgramAreRecorded(codec: VideoCodec) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let units = try await EncodedUnits.make(codec, 30)
            let recorder = try Recorder(path)
            try recorder.start()
            for unit in units { try await recorder.write(unit) }
            let report = try await recorder.stop()
            #expect(report.video?.written == 30)
            #expect(try await MediaProbe(of: path).video?.frames == 30)
        }
    }

    /// The bytes identify the same key units as the encoder does.
    @Test(arguments: EncodedUnits.codecs)
    func keyframesAreRecognizedByTheirBytes(codec: VideoCodec) async throws {
        let units = try await EncodedUnits.made(codec, 25)
        #expect(units.units.map(\.isKeyFrame) == units.keys)
        #expect(units.keys.contains(false) == (codec != .mjpeg))
    }

    @Test(arguments: films)
    func unitsOfAFileAreDecoded(film: CopyTests.Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let units = try await Self.units(of: try await film.capture(in: directory))
            let receiver = Receiver()
            let decoder = try await onControl {
                try PipelineDecoder(units[0].codec, to: receiver)
            }
            try await onControl {
                for unit in units { #expect(decoder.decodeWaiting(unit) == .accepted) }
                decoder.drain()
            }
            #expect(receiver.frames.count == 60)
            #expect(Set(receiver.times) == Set(units.map(\.runningTime)))
            try await onControl { decoder.stop() }
        }
    }

    @Test func rawStreamHasNoUnits() async throws {
        let raw = try PipelineVideoSource("videotestsrc num-buffers=3")
        let notEncoded = await #expect(throws: PipelineError.self) {
            for try await _ in raw.encodedFrames() {}
        }
        #expect(notEncoded?.message.contains("not encoded video") == true)
    }

    @Test func badUnitsAreRefusedAndCountedWithTheirCause() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            let good = try await EncodedUnits.h264(20)
            let empty = EncodedVideoFrame(.h264, bytes: [], runningTime: .zero)
            let huge = EncodedVideoFrame(
                .h264, bytes: [UInt8](repeating: 1, count: 8_000_001), runningTime: .zero)
            var untimed = good[0]
            untimed.runningTime = nil
            #expect(recorder.consume(good[1]) == .dropped(.early))
            #expect(recorder.consume(empty) == .dropped(.badFormat))
            #expect(recorder.consume(huge) == .dropped(.badFormat))
            #expect(recorder.consume(untimed) == .dropped(.noTime))
            for unit in good { #expect(recorder.consume(unit) == .accepted) }
            // Another codec begins with a key unit, too.
            let others = try await EncodedUnits.vp8(20).map { unit in
                var unit = unit
                unit.runningTime = unit.runningTime.map { $0 + MediaTime(seconds: 1) }
                return unit
            }
            #expect(recorder.consume(others[1]) == .dropped(.early))
            for unit in others { #expect(recorder.consume(unit) == .accepted) }
            let report = try await recorder.stop()
            let video = try #require(report.video)
            #expect(video.written == 40)
            #expect(video.balance.offered == 45)
            expectBalanced(report)
            #expect(report.files.count == 2)
        }
    }

    @Test(arguments: ["no-such-codec", "video/x-raw", "video/x-theora"])
    func codecWithoutAContainerEndsTheRecordingWithItsName(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mp4"))
            try recorder.start()
            let unit = EncodedVideoFrame(
                VideoCodec(rawValue: name), bytes: [1, 2, 3], runningTime: .zero)
            recorder.consume(unit)
            let error = await #expect(throws: (any Error).self) { try await recorder.stop() }
            #expect("\(error as Any)".contains(name))
        }
    }
}
