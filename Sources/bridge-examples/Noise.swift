import ArgumentParser
import Foundation
import MediaBridge
import Synchronization

/// A capturer as in OpenTok's basic sample: pictures of noise from a timer, delivered as pixel
/// buffers.
///
/// OpenTok's `initCapture`, `startCapture`, `stopCapture` and `releaseCapture` correspond to the
/// four `should…` methods.
final class NoiseCapturer: VideoSource {
    var consumer: (any VideoFrameConsumer)?
    private let frames: Int
    private let queue = DispatchQueue(label: "noise")
    private var timer: (any DispatchSourceTimer)?

    init(frames: Int) { self.frames = frames }

    func bufferType() -> VideoBufferType { .pixelBuffer }

    func shouldInitialize() -> Bool { true }

    func shouldStart() {
        guard let consumer else { return }
        let generator = Generator(frames: frames)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: 1 / Double(Generator.framesPerSecond))
        timer.setEventHandler { generator.tick(to: consumer) }
        timer.activate()
        self.timer = timer
    }

    func shouldStop() {
        timer?.cancel()
        timer = nil
    }

    func shouldDispose() { consumer = nil }

    /// The state that the timer uses, on its queue.
    private final class Generator: Sendable {
        static let framesPerSecond: Int32 = 30
        private let frames: Int
        private let next = Atomic<Int>(0)

        init(frames: Int) { self.frames = frames }

        func tick(to consumer: any VideoFrameConsumer) {
            let number = next.add(1, ordering: .relaxed).oldValue
            guard number < frames else {
                if number == frames { consumer.sourceDidEnd() }
                return
            }
            do {
                let time = MediaTime(value: Int64(number), timescale: Self.framesPerSecond)
                let answer = consumer.consumePixelBuffer(
                    try picture(), withTimestamp: time, rotation: .none)
                // Other SDKs do not report what became of a frame.
                if case .dropped(let cause) = answer { print("frame \(number): \(cause)") }
            } catch {
                consumer.sourceDidFail(error)
            }
        }

        private func picture() throws -> PixelBuffer {
            var buffer = try PixelBuffer(.nv12, size: VideoSize(width: 320, height: 240))
            try buffer.withMutablePlanes { planes in
                for index in 0..<planes.count {
                    let plane = planes[index]
                    plane.withUnsafeMutableBytes { bytes in
                        for place in stride(from: 0, to: bytes.count - 7, by: 8) {
                            bytes.storeBytes(
                                of: UInt64.random(in: 0...UInt64.max), toByteOffset: place,
                                as: UInt64.self)
                        }
                    }
                }
            }
            return buffer
        }
    }
}

struct Noise: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deliver noise as pixel buffers from a custom source with a timer.",
        discussion: """
            Examples:
              bridge-examples noise noise.mkv
              bridge-examples noise --frames 1 noise.png
            """)

    @Option(help: "Number of frames, at 30 frames per second.")
    var frames = 60

    @Argument(help: "File to write: .mkv, .yuv, .png or .jpg.")
    var output: String

    func run() async throws {
        let recording = try Recording.sink(output)
        let engine = MediaEngine()
        let watch = Watch(engine)
        try await engine.setVideoSource(NoiseCapturer(frames: frames))
        try await engine.setLocalVideoRenderer(recording, options: .recording)
        try await engine.startPreview()
        await watch.untilTheEnd()
        await engine.shutDown()
        try await watch.check()
        print("\(recording.statistics.written) frames of noise: \(output)")
    }
}
