import Foundation
import MediaBridge
import TestSupport
import Testing

/// A string cut where its bytes have no caps yet: directly behind a source that reads a file.
@Suite(.hangGuard) struct ByteStreamTests {
    @Test func bytesOfAFileAreCopiedUnchanged() async throws {
        try await withTemporaryDirectory { directory in
            var generator = SeededGenerator(seed: 1)
            let bytes = Data(
                (0..<300_001).map { _ in UInt8.random(in: 0...255, using: &generator) })
            try bytes.write(to: URL(fileURLWithPath: directory.file("any")))
            for blockSize in [1000, 4096, 1_000_000] {
                let plan = BridgePlan(
                    capture: "filesrc location=\(directory.file("any")) blocksize=\(blockSize)",
                    outputs: [
                        "filesink location=\(directory.file("one"))",
                        "queue ! identity ! filesink location=\(directory.file("two"))",
                    ])
                try await Bridge(plan).run().get()
                #expect(try directory.data("one") == bytes)
                #expect(try directory.data("two") == bytes)
            }
        }
    }

    @Test(arguments: [
        "mp4mux ! F qtdemux ! h264parse", "mp4mux faststart=true ! F qtdemux ! h264parse",
        "mp4mux fragment-duration=500 ! F decodebin ! videoconvert ! x264enc",
        "matroskamux ! F matroskademux ! h264parse", "mpegtsmux ! F tsdemux ! h264parse",
        "flvmux ! F decodebin ! videoconvert ! x264enc",
        "avimux ! F queue ! decodebin ! videoconvert ! x264enc",
        "h264parse ! video/x-h264,stream-format=byte-stream ! F decodebin ! videoconvert ! x264enc",
    ]) func demuxersAndParsersDetectTheFormatOfBytes(film: String) async throws {
        try await withTemporaryDirectory { directory in
            let parts = film.components(separatedBy: " F ")
            let path = directory.file("film")
            try await Tool.check(
                "gst-launch-1.0",
                "-q videotestsrc num-buffers=40 ! x264enc tune=zerolatency ! \(parts[0]) filesink location=\(path)"
                    .split(separator: " ").map(String.init))
            let output = "\(parts[1]) ! matroskamux ! filesink location="
            try await Tool.check(
                "gst-launch-1.0",
                "-q filesrc location=\(path) ! \(output)\(directory.file("whole"))"
                    .split(separator: " ").map(String.init))
            let plan = BridgePlan(
                capture: "filesrc location=\(path)", outputs: [output + directory.file("parts")])
            try await Bridge(plan).run().get()
            let times = try await MediaProbe.videoTimes(of: directory.file("parts"))
            #expect(times == (try await MediaProbe.videoTimes(of: directory.file("whole"))))
            #expect(times.count == 40)
        }
    }

    @Test(arguments: ["", "queue ! "])
    func rawAudioParserTakesTheFormatFromItsProperties(before: String) async throws {
        try await withTemporaryDirectory { directory in
            let bytes = Data((0..<96_000).map { UInt8(truncatingIfNeeded: $0) })
            try bytes.write(to: URL(fileURLWithPath: directory.file("raw")))
            let plan = BridgePlan(
                capture: "filesrc location=\(directory.file("raw"))",
                outputs: [
                    "\(before)rawaudioparse format=pcm pcm-format=s16le sample-rate=48000 "
                        + "num-channels=1 ! wavenc ! filesink location=\(directory.file("wav"))"
                ])
            try await Bridge(plan).run().get()
            #expect(try directory.data("wav").suffix(96_000) == bytes)
        }
    }

    @Test func fixedOutputFormatDescribesTheBytes() async throws {
        try await withTemporaryDirectory { directory in
            let size = "width=64,height=48,framerate=25/1"
            try await Tool.check(
                "gst-launch-1.0",
                "-q videotestsrc num-buffers=1 ! video/x-raw,format=RGB,\(size) ! filesink location=\(directory.file("raw"))"
                    .split(separator: " ").map(String.init))
            let plan = BridgePlan(
                capture: "filesrc location=\(directory.file("raw")) blocksize=9216",
                outputs: [
                    "video/x-raw,format=RGB,\(size) ! pngenc ! filesink location=\(directory.file("png"))"
                ])
            try await Bridge(plan).run().get()
            let picture = try await MediaProbe(of: directory.file("png")).video
            #expect(picture?.width == 64 && picture?.height == 48)
        }
    }

    /// Of two outputs, the one that cannot identify the bytes ends with an error that states so.
    @Test func outputWithUnknownBytesDoesNotAffectOthers() async throws {
        try await withTemporaryDirectory { directory in
            let path = try directory.write("any bytes at all\n", to: "any")
            let plan = BridgePlan(
                capture: "filesrc location=\(path)",
                outputs: ["filesink location=\(directory.file("copy"))", "x264enc ! fakesink"])
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(plan).run().get()
            }
            #expect(
                error?.message.contains("bytes without caps") == true,
                "\(String(describing: error))")
            #expect(try directory.data("copy") == Data("any bytes at all\n".utf8))
        }
    }

    /// A parser of an elementary stream knows only decoding times. In a capture its units are due
    /// when they are decoded; behind the cut matroskamux would write them with time zero.
    @Test(arguments: ["matroskamux", "mp4mux", "queue ! matroskamux", "mpegtsmux"])
    func muxingMediaWithoutPresentationTimesIsAnError(muxer: String) async throws {
        try await withTemporaryDirectory { directory in
            let (film, result) = (directory.file("film.h264"), directory.file("film"))
            try await Tool.check(
                "gst-launch-1.0",
                "-q videotestsrc num-buffers=20 ! x264enc tune=zerolatency ! video/x-h264,stream-format=byte-stream ! filesink location=\(film)"
                    .split(separator: " ").map(String.init))
            let output = "\(muxer) ! filesink location=\(result)"
            try await Bridge(
                BridgePlan(capture: "filesrc location=\(film) ! h264parse", outputs: [output])
            ).run().get()
            #expect(Set(try await MediaProbe.videoTimes(of: result)).count == 20)
            guard muxer != "mpegtsmux" else { return }
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(
                    BridgePlan(
                        capture: "filesrc location=\(film)", outputs: ["h264parse ! \(output)"])
                ).run().get()
            }
            #expect(error?.element?.contains("mux") == true)
        }
    }

    /// The end of the stream may arrive before or after the bytes are read.
    @Test func readingFramesFromBytesIsAnError() async throws {
        try await withTemporaryDirectory { directory in
            let path = try directory.write("any bytes at all\n", to: "any")
            for _ in 0..<10 {
                let source = try PipelineVideoSource("filesrc location=\(path)")
                let error = await #expect(throws: PipelineError.self) {
                    for try await _ in source.frames() {}
                }
                #expect(error?.message.contains("bytes without caps") == true)
            }
        }
    }

    @Test(arguments: [
        "fdsrc fd=", "fdsrc do-timestamp=true fd=", "fakesrc is-live=true sizetype=fixed name=a",
    ])
    func readingFramesFromEndlessBytesIsAnError(source: String) async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("any bytes at all".utf8))
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let frames = try PipelineVideoSource("\(source)\(descriptor)").frames()
        let error = await #expect(throws: PipelineError.self) { for try await _ in frames {} }
        #expect(error?.message.contains("bytes without caps") == true)
        try pipe.fileHandleForWriting.close()
    }
}
