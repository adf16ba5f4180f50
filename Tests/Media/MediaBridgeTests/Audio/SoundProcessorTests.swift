import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Processors of sound in a bridge: raw and encoded, into outputs and recordings.
@Suite(.hangGuard) struct SoundProcessorTests {
    /// Halves every sample, and keeps the result.
    private final class Quieter: AudioProcessor, Sendable {
        let heard = Mutex<[Int16]>([])

        func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
            var frame = frame
            let samples = try frame.withMutableSamples(as: Int16.self) { span in
                for index in span.indices { span[index] /= 2 }
                return span.indices.map { span[$0] }
            }
            heard.withLock { $0 += samples }
            return frame
        }
    }

    /// Runs a closure on each frame.
    private struct Step: AudioProcessor {
        let body: @Sendable (consuming AudioFrame) throws -> AudioFrame?

        func process(_ frame: consuming AudioFrame) throws -> AudioFrame? { try body(frame) }
    }

    private static let raw =
        "audiotestsrc num-buffers=40 samplesperbuffer=480 wave=saw "
        + "! audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved"

    private func run(
        _ plan: BridgePlan
    ) async throws -> (report: BridgeReport, warnings: [String]) {
        let warnings = Observed<[String]>([])
        let bridge = try Bridge(plan)
        bridge.onEvent { event in
            if case .warned(let error) = event { warnings.change { $0.append(error.message) } }
        }
        let report = await bridge.run()
        expectBalanced(report)
        return (report, warnings.value)
    }

    /// The samples of a file, as ffmpeg decodes them.
    private func samples(of path: String) async throws -> [Int16] {
        let raw = path + ".s16"
        try await Tool.check("ffmpeg", ["-v", "error", "-i", path, "-f", "s16le", raw])
        return try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
    }

    @Test func outputsAndRecordingsReceiveProcessedAudio() async throws {
        try await withTemporaryDirectory { directory in
            let (written, recorded) = (directory.file("out.wav"), directory.file("out.flac"))
            let quieter = Quieter()
            var plan = BridgePlan(
                capture: Self.raw, outputs: ["wavenc ! filesink location=\(written)"])
            var configuration = Recorder.Configuration()
            (configuration.video, configuration.audio) = (nil, AudioEncoding())
            plan.recordings = [.init(path: recorded, configuration: configuration)]
            plan.audioProcessors = [Quieter(), quieter]
            let (report, warnings) = try await run(plan)
            #expect(report.failures.isEmpty && warnings.isEmpty, "\(report.failures) \(warnings)")
            #expect(report.captures["audio"]?.frames == 40)
            let heard = quieter.heard.withLock { $0 }
            #expect(heard.count == 40 * 480 * 2 && heard.contains { $0 != 0 })
            #expect(try await samples(of: written) == heard)
            #expect(try await samples(of: recorded) == heard)
        }
    }

    @Test(arguments: [
        "opusenc", "avenc_aac ! aacparse", "lamemp3enc ! mpegaudioparse", "flacenc ! flacparse",
        "vorbisenc", "mulawenc", "avenc_ac3 ! ac3parse",
    ])
    func encodedAudioIsDecodedForProcessors(encoder: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.wav")
            let heard = Atomic<Int>(0)
            var plan = BridgePlan(
                capture:
                    "\(Self.raw) ! audioconvert ! audioresample ! \(encoder) ! appsink name=audio",
                outputs: [
                    "appsrc name=audio ! audioconvert ! audio/x-raw,format=S16LE ! wavenc "
                        + "! filesink location=\(path)"
                ])
            // Zeros are silence in every format that decoders output.
            plan.audioProcessors = [
                Step { frame in
                    var frame = frame
                    let planes = frame.format.isPlanar ? frame.format.channels : 1
                    for plane in 0..<planes {
                        try frame.withMutableBytes(plane: plane) { bytes in
                            for index in bytes.byteOffsets {
                                bytes.storeBytes(of: 0, toByteOffset: index, as: UInt8.self)
                            }
                        }
                    }
                    heard.add(frame.sampleCount * frame.format.channels, ordering: .relaxed)
                    return frame
                }
            ]
            let (report, warnings) = try await run(plan)
            #expect(report.failures.isEmpty, "\(encoder): \(report.failures)")
            #expect(warnings.contains { $0.contains("is decoded for filters and program code") })
            #expect(report.captures["audio"]?.dropped.total == 0)
            let written = try await samples(of: path)
            #expect(written.count == heard.load(ordering: .relaxed) && written.count >= 38_000)
            // audioconvert dithers.
            #expect(written.allSatisfy { abs($0) <= 1 }, "\(encoder)")
        }
    }

    @Test func aDroppedFrameIsCountedAndAnErrorEndsTheRun() async throws {
        let seen = Atomic<Int>(0)
        var plan = BridgePlan(capture: Self.raw, outputs: ["fakesink"])
        plan.audioProcessors = [
            Step { seen.add(1, ordering: .relaxed).newValue % 4 == 0 ? nil : $0 }
        ]
        let dropping = try await run(plan).report
        #expect(dropping.captures["audio"]?.dropped[.processor] == 10)
        #expect(dropping.outputs["output"]?.frames == 30 && dropping.failures.isEmpty)
        struct Reason: Error, CustomStringConvertible { let description = "no more sound" }
        plan.audioProcessors = [
            Step { frame in
                if seen.add(1, ordering: .relaxed).newValue == 60 { throw Reason() }
                return frame
            }
        ]
        let failing = try await run(plan).report
        #expect(failing.failures.first?.message.contains("no more sound") == true)
        #expect(failing.ended == .error)
    }

    @Test func aProcessorMayChangeTheFormat() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.wav")
            var plan = BridgePlan(
                capture: Self.raw, outputs: ["wavenc ! filesink location=\(path)"])
            plan.audioProcessors = [
                Step { frame in
                    let mono = AudioFormat(.s16le, sampleRate: 48000, channels: 1)
                    let left = try frame.withSamples(as: Int16.self) { span in
                        stride(from: 0, to: span.count, by: 2).map { span[$0] }
                    }
                    var result = try AudioFrame(
                        silence: mono, sampleCount: left.count, runningTime: frame.runningTime)
                    try result.withMutableSamples(as: Int16.self) { span in
                        for index in span.indices { span[index] = left[index] }
                    }
                    return result
                }
            ]
            #expect(try await run(plan).report.failures.isEmpty)
            let sound = try #require(try await MediaProbe(of: path).audio)
            #expect(sound.channels == 1)
            #expect(try await samples(of: path).count == 40 * 480)
        }
    }

    @Test func oneCallTakesVideoAndAudioClosures() async throws {
        let pictures = Atomic<Int>(0)
        let sounds = Atomic<Int>(0)
        let report = try await Bridge.run(
            capture:
                "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48 ! appsink name=video "
                + "\(Self.raw) ! opusenc ! appsink name=audio",
            outputs: ["appsrc name=video ! fakesink appsrc name=audio ! fakesink"]
        ) { _ in
            pictures.add(1, ordering: .relaxed)
        } eachAudioFrame: { sound in
            sounds.add(sound.sampleCount, ordering: .relaxed)
            return sound
        }
        #expect(pictures.load(ordering: .relaxed) == 20)
        #expect(sounds.load(ordering: .relaxed) >= 40 * 480)
        #expect(report.failures.isEmpty)
    }

    @Test func filterAppliesToOneOfSeveralStreams() async throws {
        let left = Atomic<Int>(0)
        let right = Atomic<Int>(0)
        struct Count: VideoProcessor {
            let body: @Sendable () -> Void

            func process(_ frame: consuming VideoFrame) -> VideoFrame? {
                body()
                return frame
            }
        }
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=5 ! appsink name=left "
                + "videotestsrc num-buffers=7 ! jpegenc ! appsink name=right",
            outputs: ["appsrc name=left ! fakesink", "appsrc name=right ! fakesink"])
        plan.processors = [Count { left.add(1, ordering: .relaxed) }]
        plan.streamProcessors["right"] = [Count { right.add(1, ordering: .relaxed) }]
        let (report, _) = try await run(plan)
        #expect(report.failures.isEmpty && report.outputs["output-2"]?.frames == 7)
        #expect(left.load(ordering: .relaxed) == 12 && right.load(ordering: .relaxed) == 7)
        plan.streamProcessors["none"] = []
        let error = #expect(throws: PipelineError.self) { try Bridge(plan) }
        #expect(error?.message.contains("\"none\"") == true)
        #expect(error?.advice?.contains("appsink name=none") == true)
    }
}
