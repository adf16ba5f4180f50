import Foundation
import MediaBridge
import Synchronization
import TestSupport

/// A film that flashes and beeps at every full second.
struct FlashAndBeep {
    let pictures: Flashes
    let sound: Beeps

    init(seconds: Int) throws {
        let film = try PipelineVideoSource(
            "videotestsrc pattern=black num-buffers=\(25 * seconds) ! "
                + "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! appsink name=video "
                + "audiotestsrc wave=silence num-buffers=\(100 * seconds) "
                + "samplesperbuffer=480 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! "
                + "appsink name=audio")
        guard let sound = film.audio else { throw PipelineError(.wrongEnds, message: "silent") }
        pictures = Flashes(film)
        self.sound = Beeps(sound)
    }

    /// The time since the last whole second, when it flashed and beeped.
    private static func phase(_ time: MediaTime) -> Int64 { time.nanoseconds % 1_000_000_000 }

    final class Flashes: VideoSource, Sendable {
        private let film: PipelineVideoSource

        init(_ film: PipelineVideoSource) { self.film = film }

        var consumer: (any VideoFrameConsumer)? {
            get { (film.consumer as? Painter)?.consumer }
            set { film.consumer = newValue.map { Painter($0) } }
        }

        func shouldInitialize() throws -> Bool { try film.shouldInitialize() }
        func shouldStart() throws { try film.shouldStart() }
        func shouldStop() throws { try film.shouldStop() }
        func shouldDispose() throws { try film.shouldDispose() }

        private final class Painter: VideoFrameConsumer {
            let consumer: any VideoFrameConsumer

            init(_ consumer: any VideoFrameConsumer) { self.consumer = consumer }

            func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
                var frame = frame
                if let time = frame.runningTime, phase(time) < 20_000_000 {
                    try? frame.withMutablePlanes { planes in
                        let plane = planes[0]
                        plane.fill(235)
                    }
                }
                return consumer.consume(frame)
            }

            func sourceDidEnd() { consumer.sourceDidEnd() }
            func sourceDidFail(_ error: any Error) { consumer.sourceDidFail(error) }
        }
    }

    final class Beeps: AudioSource, Sendable {
        private let source: PipelineAudioSource

        init(_ source: PipelineAudioSource) { self.source = source }

        var consumer: (any AudioFrameConsumer)? {
            get { (source.consumer as? Painter)?.consumer }
            set { source.consumer = newValue.map { Painter($0) } }
        }

        func shouldInitialize() throws -> Bool { try source.shouldInitialize() }
        func shouldStart() throws { try source.shouldStart() }
        func shouldStop() throws { try source.shouldStop() }
        func shouldDispose() throws { try source.shouldDispose() }

        private final class Painter: AudioFrameConsumer {
            let consumer: any AudioFrameConsumer

            init(_ consumer: any AudioFrameConsumer) { self.consumer = consumer }

            func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
                var frame = frame
                // A frame lasts 10 ms, and one begins at each whole second.
                if let time = frame.runningTime, phase(time) < 5_000_000 {
                    try? frame.withMutableSamples(as: Int16.self) { samples in
                        for index in samples.indices {
                            samples[index] = index % 48 < 24 ? 10000 : -10000
                        }
                    }
                }
                return consumer.consume(frame)
            }

            func sourceDidEnd() { consumer.sourceDidEnd() }
            func sourceDidFail(_ error: any Error) { consumer.sourceDidFail(error) }
        }
    }

    /// A sink that writes both streams to a file.
    static func recording(_ path: String) throws -> PipelineVideoSink {
        try PipelineVideoSink(
            "appsrc name=video ! videoconvert ! x264enc tune=zerolatency speed-preset=ultrafast ! "
                + "mux. appsrc name=audio ! audioconvert ! audioresample ! flacenc ! mux. "
                + "matroskamux name=mux ! filesink location=\(path)")
    }

    /// The offset of each flash of a file from its beep, in seconds. Flashes at the ends are
    /// excluded, because one part may be missing.
    static func offsets(in path: String) async throws -> [Double] {
        let times = try await MediaProbe.videoTimes(of: path)
        let luma = try await MediaProbe.luma(of: path)
        let flashes = zip(times, luma).filter { $0.1[0] > 128 }.map(\.0)
        let raw = path + ".beeps.raw"
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-y", "-copyts", "-i", path, "-map", "0:a:0", "-af",
                "aresample=async=1:first_pts=0", "-ac", "1", "-ar", "48000", "-f", "s16le", raw,
            ])
        let beeps = try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
            beginnings($0.bindMemory(to: Int16.self))
        }
        return flashes.dropFirst().dropLast().compactMap { flash in
            beeps.map { $0 - flash }.min { abs($0) < abs($1) }
        }
    }

    /// The times at which audio begins after a quarter of a second of silence, in seconds. A plain
    /// loop: there are millions of samples, and test builds are not optimised.
    private static func beginnings(_ samples: UnsafeBufferPointer<Int16>) -> [Double] {
        var found: [Double] = []
        var (index, quiet) = (0, 24000)
        while index < samples.count {
            let sample = samples[index]
            if sample > 1000 || sample < -1000 {
                if quiet >= 12000 { found.append(Double(index) / 48000) }
                quiet = 0
            } else {
                quiet += 1
            }
            index += 1
        }
        return found
    }
}
