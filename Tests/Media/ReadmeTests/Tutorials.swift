import Foundation
import MediaBridge

/// The code of the tutorials, verbatim: each block appears here, indented by eight more spaces.
enum Tutorial {
    static func seeing() async throws {
        try await Bridge.run(
            capture: "videotestsrc pattern=ball num-buffers=90 ! video/x-raw,format=GRAY8"
        ) { frame in
            let left: Int? = try frame.withPlanes { planes in
                let row = planes[0].row(planes[0].rows / 2)
                for x in 0..<planes[0].width where row[x] > 128 { return x }
                return nil
            }
            if let left { print("\(frame): the ball begins at \(left)") }
        }
    }

    static func changing() async throws {
        let report = try await Bridge.run(
            capture: "videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=640,height=360",
            outputs: ["x264enc ! matroskamux ! filesink location=half.mkv"],
            stopOn: .interrupt
        ) { frame in
            guard let time = frame.runningTime, time.seconds < 2 else { return nil }
            var frame = frame
            try frame.withMutablePlanes { planes in
                let luma = planes[0]
                for y in 0..<luma.rows / 2 {
                    var row = luma.row(y)
                    for x in row.indices { row[x] = 16 }
                }
            }
            return frame
        }
        print(report.outputs["output"]!.frames, report.captures["video"]!.frames)
    }

    static func recording() async throws {
        /// Draws a white bar at the bottom, which grows by 32 pixels a second.
        struct Ruler: VideoProcessor {
            func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
                let length = Int((frame.runningTime?.seconds ?? 0) * 32)
                try frame.withMutablePlanes { planes in
                    let luma = planes[0]
                    for y in luma.rows - 16..<luma.rows {
                        var row = luma.row(y)
                        for x in row.indices.prefix(length) { row[x] = 235 }
                    }
                }
                return frame
            }
        }

        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=150 "
                + "! video/x-raw,format=I420,width=320,height=240,framerate=30/1")
        plan.processors = [Ruler()]
        var recording = BridgePlan.Recording(path: "ring.mkv")
        recording.configuration.video?.keyFrameInterval = .seconds(1)
        recording.configuration.segments = RecordingSegments(length: .seconds(1), keepFiles: 2)
        plan.recordings = [recording]
        let bridge = try Bridge(plan)
        let report = try await bridge.run().get()
        for file in bridge.recorders[0].report.files { print(file) }
        print(report)
    }

    static func engine() async throws {
        let engine = MediaEngine()
        let events = engine.events
        let recorder = try Recorder("change.mkv")
        try await engine.addRecorder(recorder)
        try recorder.start()

        let caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
        try await engine.setVideoSource(
            PipelineVideoSource("videotestsrc is-live=true pattern=white ! \(caps)"))
        try await engine.startPreview()
        for await event in events { if case .firstFrame = event { break } }
        try await Task.sleep(for: .seconds(1))

        try await engine.setVideoSource(
            PipelineVideoSource("videotestsrc is-live=true pattern=black num-buffers=30 ! \(caps)"))
        try await events.waitForSourceEnd()

        let report = try await recorder.stop()
        print(report)
        await engine.shutDown()
    }

    /// - Returns: The number of frames that the renderer saw, and the calls that the two classes
    ///   received.
    static func classes() async throws -> (pictures: Int?, trace: [String]) {
        /// A grey picture that gets brighter, thirty times a second, until it is stopped.
        final class Lamp: VideoSource {
            var consumer: (any VideoFrameConsumer)?
            private var thread: Thread?

            func needsPacing() -> Bool { true }

            func shouldStart() throws {
                guard let consumer else { return }
                let blank = try PixelBuffer(.gray8, size: VideoSize(width: 320, height: 240))
                thread = Thread {
                    var number: Int64 = 0
                    while !Thread.current.isCancelled {
                        var picture = blank
                        do {
                            try picture.withMutablePlanes { planes in
                                let luma = planes[0]
                                luma.fill(UInt8(number % 256))
                            }
                        } catch {
                            return consumer.sourceDidFail(error)
                        }
                        let time = MediaTime(value: number, timescale: 30)
                        let answer = consumer.consumePixelBuffer(
                            picture, withTimestamp: time, rotation: .upright)
                        if answer == .dropped(.notStarted) { return }
                        number += 1
                    }
                }
                thread?.start()
            }

            func shouldStop() { thread?.cancel() }
        }

        /// Counts frames, and stores their size.
        final class Counter: VideoSink {
            private(set) var pictures = 0
            private(set) var size = VideoSize(width: 0, height: 0)

            func pixelFormat() -> VideoPixelFormat { .i420 }

            func render(_ frame: VideoFrame) throws {
                pictures += 1
                size = frame.size
            }
        }

        let engine = MediaEngine()
        let events = engine.events
        try await engine.setVideoSource(Lamp())
        let counter = try await engine.addVideoSink(Counter(), to: .local())
        for _ in 0..<2 {  // a source may be started again
            try await engine.startPreview()
            for await event in events { if case .firstFrame = event { break } }
            try await engine.stopPreview()
        }
        let seen = await engine.videoSink(counter)?.perform { ($0 as? Counter)?.pictures ?? 0 }
        print("\(seen ?? 0) frames")
        for call in engine.trace { print(call) }
        await engine.shutDown()
        return (seen, engine.trace)
    }
}
