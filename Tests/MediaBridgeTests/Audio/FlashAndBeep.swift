import Foundation
import MediaBridge
import Synchronization
import TestSupport

/// A capture that flashes and beeps about once a second, both at the running time of the frame that flashes.
struct FlashAndBeep {
    let pictures: Flashes
    let sound: Beeps

    init(seconds: Int, isLive: Bool) throws {
        let film = try PipelineVideoSource(
            "videotestsrc is-live=\(isLive) pattern=black num-buffers=\(25 * seconds) ! "
                + "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! appsink name=video "
                + "audiotestsrc is-live=\(isLive) wave=silence num-buffers=\(100 * seconds) "
                + "samplesperbuffer=480 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! "
                + "appsink name=audio")
        guard let sound = film.audio else { throw PipelineError(.wrongEnds, message: "silent") }
        let moments = Moments(isLive: isLive)
        pictures = Flashes(film, moments)
        self.sound = Beeps(sound, moments)
    }

    /// Running times at which it flashes: whole seconds; of a live capture, whose first frame is at any
    /// time, known three frames before.
    final class Moments: Sendable {
        private let isLive: Bool
        private let times = Mutex<[MediaTime]>([])
        private let frames = Atomic<Int>(0)
        private static let interval = MediaTime(value: 1, timescale: 25)

        init(isLive: Bool) { self.isLive = isLive }

        /// Whether this frame is to flash.
        func flashes(at time: MediaTime) -> Bool {
            guard isLive else { return time.nanoseconds % 1_000_000_000 < 20_000_000 }
            let number = frames.add(1, ordering: .relaxed).oldValue
            return times.withLock { times in
                if number % 25 == 22 {
                    times.append(time + Self.interval + Self.interval + Self.interval)
                }
                return times.contains { abs(($0 - time).seconds) < 0.02 }
            }
        }

        func beeps(at time: MediaTime) -> Bool {
            guard isLive else { return time.nanoseconds % 1_000_000_000 < 10_000_000 }
            return times.withLock { $0.contains { time >= $0 && (time - $0).seconds < 0.01 } }
        }
    }

    final class Flashes: VideoSource, Sendable {
        private let film: PipelineVideoSource
        private let moments: Moments

        init(_ film: PipelineVideoSource, _ moments: Moments) {
            (self.film, self.moments) = (film, moments)
        }

        var consumer: (any VideoFrameConsumer)? {
            get { (film.consumer as? Painter)?.consumer }
            set { film.consumer = newValue.map { Painter($0, moments) } }
        }

        func bufferType() -> VideoBufferType { .pixelBuffer }
        func shouldInitialize() throws -> Bool { try film.shouldInitialize() }
        func shouldStart() throws { try film.shouldStart() }
        func shouldStop() throws { try film.shouldStop() }
        func shouldDispose() throws { try film.shouldDispose() }

        private final class Painter: VideoFrameConsumer {
            let consumer: any VideoFrameConsumer
            private let moments: Moments

            init(_ consumer: any VideoFrameConsumer, _ moments: Moments) {
                (self.consumer, self.moments) = (consumer, moments)
            }

            func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
                var frame = frame
                if let time = frame.runningTime, moments.flashes(at: time) {
                    try? frame.withMutablePlanes { planes in
                        var plane = planes[0]
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
        private let moments: Moments

        init(_ source: PipelineAudioSource, _ moments: Moments) {
            (self.source, self.moments) = (source, moments)
        }

        var consumer: (any AudioFrameConsumer)? {
            get { (source.consumer as? Painter)?.consumer }
            set { source.consumer = newValue.map { Painter($0, moments) } }
        }

        func shouldInitialize() throws -> Bool { try source.shouldInitialize() }
        func shouldStart() throws { try source.shouldStart() }
        func shouldStop() throws { try source.shouldStop() }
        func shouldDispose() throws { try source.shouldDispose() }

        private final class Painter: AudioFrameConsumer {
            let consumer: any AudioFrameConsumer
            private let moments: Moments

            init(_ consumer: any AudioFrameConsumer, _ moments: Moments) {
                (self.consumer, self.moments) = (consumer, moments)
            }

            func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
                var frame = frame
                let format = frame.format
                if let time = frame.runningTime {
                    try? frame.withMutableSamples(as: Int16.self) { samples in
                        for index in samples.indices
                        where moments.beeps(at: time + format.duration(samples: index)) {
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

    /// A file that takes both.
    static func recording(_ path: String) throws -> PipelineVideoSink {
        try PipelineVideoSink(
            "appsrc name=video ! videoconvert ! x264enc tune=zerolatency speed-preset=ultrafast ! "
                + "mux. appsrc name=audio ! audioconvert ! audioresample ! flacenc ! mux. "
                + "matroskamux name=mux ! filesink location=\(path)")
    }

    /// How far each flash of a file is from its beep, in seconds; those at the ends, of which one part may
    /// be missing, are left out.
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

    /// When sound begins after a quarter of a second of silence, in seconds. A plain loop: there are millions
    /// of samples, and builds for tests optimise nothing.
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
