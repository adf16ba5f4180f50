import Foundation
import MediaBridge
import MediaBridgeAgora
import MediaBridgeTesting
import Synchronization
import Testing

// The examples of the README and of the articles, verbatim between the marks.

enum Example {
    static func oneCall() async throws {
        // README
        let report = try await Bridge.run(
            capture: "videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=640,height=360",
            outputs: ["x264enc ! matroskamux ! filesink location=two.mkv"]
        ) { frame in
            print(frame)  // I420 640×360 30/1 at 0:00:00.033333333
        }
        print("\(report.outputs["output"]!.frames) frames")
        // end
    }

    static func plan() async throws {
        // README
        struct NoColour: VideoProcessor {
            func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
                try frame.withMutablePlanes { planes in
                    for index in 1..<planes.count { planes[index].fill(128) }
                }
                return frame
            }
        }

        var plan = BridgePlan(capture: "videotestsrc num-buffers=90 ! video/x-raw,format=I420")
        plan.processors = [NoColour()]
        plan.recordings = [BridgePlan.Recording(path: "three.mkv")]
        let report = try await Bridge(plan).run().get()  // or throws what failed
        // end
        #expect(report.outputs["recording"]?.frames == 90)
    }

    static func sequence() async throws {
        // Frames
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=640,height=360")
        let sink = try PipelineVideoSink("x264enc ! matroskamux ! filesink location=three.mkv")
        for try await var frame in source.frames() {
            try frame.withMutablePlanes { planes in
                let luma = planes[0]
                let middle = luma.rows / 2
                var row = luma.row(middle)  // a white line
                for x in row.indices { row[x] = 235 }
            }
            try await sink.write(frame)
        }
        let report = try await sink.finish()
        print("\(report.frames) frames written, dropped: \(report.dropped)")
        // end
    }

    static func encodedFrames() async throws {
        // EncodedFrames
        let film = try PipelineVideoSource("filesrc location=film.mp4 ! qtdemux ! h264parse")
        let sink = try PipelineVideoSink("h264parse ! matroskamux ! filesink location=start.mkv")
        for try await frame in film.encodedFrames() {
            guard let time = frame.runningTime, time < MediaTime(seconds: 2) else { break }
            try await sink.write(frame)
        }
        let report = try await sink.finish()
        print("\(report.frames) encoded frames written")
        // end
    }

    static func engine() async throws {
        // Engine
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false  // for files; a camera keeps true
        let engine = MediaEngine(configuration: configuration)
        let events = engine.events
        try await engine.setVideoSource(
            PipelineVideoSource("videotestsrc num-buffers=90 ! video/x-raw,width=640,height=360"))
        try await engine.addVideoSink(
            PipelineVideoSink("x264enc ! matroskamux ! filesink location=four.mkv"), to: .local())
        try await engine.setVideoProcessors([VideoFilter.grayscale], at: .capture)
        try await engine.startPreview()
        try await events.waitForSourceEnd()
        await engine.shutDown()  // renders the queued frames and completes the file
        print(engine.trace)  // video sink 1: query, video sink 1: initialize …
        // end
    }

    static func channel() async throws {
        // Channels
        let network = LoopbackNetwork()
        let (anna, ben) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let camera =
            "videotestsrc is-live=true num-buffers=60 ! x264enc tune=zerolatency ! h264parse"
        try await anna.setVideoSource(PipelineVideoSource(camera))
        try await ben.addVideoSink(PipelineVideoSink("fakevideosink"), to: .remote("anna"))
        try await ben.joinChannel("room", userID: "ben", role: .audience)
        let events = anna.events
        try await anna.joinChannel("room", userID: "anna")
        try await events.waitForSourceEnd()

        let frames = await ben.statistics.channel!.incoming
        print("\(frames.offered) sent, \(frames.delivered) delivered")
        await anna.shutDown()
        await ben.shutDown()
        // end
        #expect(frames.offered > 0 && frames.offered <= 60)
    }

    /// - Returns: The balance of the renderer's frames.
    static func ownClasses() async throws -> FrameBalance {
        // Engine
        /// Delivers ninety grey frames, from dark to bright.
        final class Sunrise: VideoSource {
            var consumer: (any VideoFrameConsumer)?
            func needsPacing() -> Bool { true }  // the engine waits for each timestamp
            func shouldStart() {
                guard let consumer else { return }
                Thread.detachNewThread {
                    for number in 0..<90 {
                        let size = VideoSize(width: 320, height: 240)
                        guard var picture = try? PixelBuffer(.gray8, size: size) else { continue }
                        try? picture.withMutablePlanes { planes in
                            planes[0].fill(UInt8(2 * number))
                        }
                        let time = MediaTime(value: Int64(number), timescale: 30)
                        consumer.consumePixelBuffer(
                            picture, withTimestamp: time, rotation: .upright)
                    }
                    consumer.sourceDidEnd()
                }
            }
            func shouldStop() {}  // later frames are dropped and counted
        }

        /// Prints the brightness of each frame.
        final class LightMeter: VideoSink {
            func render(_ frame: VideoFrame) throws {
                let level = try frame.withPlanes { $0[0].row(0)[0] }
                print("\(frame): \(level)")
            }
        }

        let engine = MediaEngine()
        let events = engine.events
        try await engine.setVideoSource(Sunrise())
        try await engine.addVideoSink(LightMeter(), to: .local())
        try await engine.startPreview()
        try await events.waitForSourceEnd()
        await engine.shutDown()  // renders the queued frames
        // end
        let statistics = await engine.statistics
        return statistics.videoSinks.values.reduce(statistics.removed.videoSinks.balance) {
            $0 + $1.balance
        }
    }

    static func recording() async throws -> RecorderReport {
        // Recording
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! appsink name=video "
                + "audiotestsrc is-live=true ! appsink name=audio")
        let engine = MediaEngine()
        try await engine.setVideoSource(source)
        try await engine.setAudioSource(source.audio)

        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding()
        configuration.preRoll = .seconds(2)  // in memory, encoded
        let recorder = try Recorder("five.mkv", configuration: configuration)
        try await engine.addRecorder(recorder)
        try await engine.startPreview()
        try await Task.sleep(for: .seconds(2))  // wait for the event to record
        try recorder.start()  // the file begins with the pre-roll
        try await Task.sleep(for: .seconds(1))
        let report = try await recorder.stop()  // the preview continues
        print("\(report.files[0].frames) frames, dropped: \(report.video!.dropped)")
        // end
        await engine.shutDown()
        return report
    }

    static func planes(_ frame: VideoFrame) throws {
        // Frames
        try frame.withPlanes { planes in
            let chroma = planes[1]  // width and rows in samples, stride in bytes, layout
            let first = chroma.row(0)[0]
            print(chroma.layout, first)
        }
        // end
    }

    static func together(_ frame: inout VideoFrame) throws {
        // Frames
        try frame.withMutablePlanes { y, u, v in
            y.fill(90)
            for line in 0..<u.rows {
                var blue = u.row(line)
                var red = v.row(line)
                for x in 0..<u.width {
                    blue[x] = UInt8(x % 256)
                    red[x] = 255 - blue[x]
                }
            }
        }
        // end
    }

    static func pushMode(_ engine: MediaEngine, _ bytes: [UInt8]) async throws {
        // ComingFromAgora
        try await engine.setExternalVideoSource(.bytes)
        try await engine.startPreview()

        let frame = ExternalVideoFrame()
        frame.format = .i420  // or the number: 1
        frame.strideInPixels = 384
        frame.height = 240
        frame.cropRight = 64  // padding
        frame.dataBuf = bytes
        if case .dropped(let cause) = engine.pushExternalVideoFrame(frame) { print(cause) }
        // end
    }

    static func sound() async throws {
        // Sound
        let source = try PipelineAudioSource("audiotestsrc num-buffers=100 ! audio/x-raw")
        let sink = try PipelineAudioSink("audioconvert ! flacenc ! filesink location=quiet.flac")
        for try await var frame in source.frames() {
            if frame.format.sampleFormat == .s16le {
                try frame.withMutableSamples(as: Int16.self) { samples in
                    for index in samples.indices { samples[index] /= 2 }
                }
            }
            try await sink.write(frame)
        }
        try await sink.finish()
        // end
    }

    static func quietBridge() async throws {
        // Sound
        try await Bridge.run(
            capture: "audiotestsrc num-buffers=100 ! audio/x-raw,format=S16LE",
            outputs: ["flacenc ! filesink location=quieter.flac"],
            eachAudioFrame: { frame in
                var frame = frame
                try frame.withMutableSamples(as: Int16.self) { samples in
                    for index in samples.indices { samples[index] /= 2 }
                }
                return frame
            })
        // end
    }

    static func film(_ engine: MediaEngine) async throws {
        // Sound
        let film = try PipelineVideoSource(
            "filesrc location=film.mkv ! decodebin name=d "
                + "d. ! queue ! videoconvert ! appsink name=video "
                + "d. ! queue ! audioconvert ! appsink name=audio")
        try await engine.setVideoSource(film)
        try await engine.setAudioSource(film.audio)
        // end
    }

    static func renderer(_ engine: MediaEngine) async throws {
        // ComingFromOpenTok
        final class BlackAndWhiteRenderer: VideoSink {
            func pixelFormat() -> VideoPixelFormat { .i420 }  // the only format of OpenTok's frames

            func render(_ frame: VideoFrame) throws {
                try frame.withPlanes { planes in
                    let luma = planes[0]  // width, rows, stride
                    for y in 0..<luma.rows { draw(luma.row(y)) }
                }
            }
        }
        try await engine.addVideoSink(BlackAndWhiteRenderer(), to: .local())
        // end
    }

    static func customSource() async throws {
        // Programs
        /// Delivers ninety grey frames, from dark to bright.
        final class Sunrise: VideoSource {
            var consumer: (any VideoFrameConsumer)?
            func needsPacing() -> Bool { true }  // the engine waits for each timestamp
            func shouldStart() {
                guard let consumer else { return }
                Thread.detachNewThread {
                    do {
                        for number in 0..<90 {
                            let size = VideoSize(width: 320, height: 240)
                            var picture = try PixelBuffer(.gray8, size: size)
                            try picture.withMutablePlanes { $0[0].fill(UInt8(2 * number)) }
                            let time = MediaTime(value: Int64(number), timescale: 30)
                            consumer.consume(VideoFrame(picture, runningTime: time))
                        }
                        consumer.sourceDidEnd()
                    } catch {
                        consumer.sourceDidFail(error)
                    }
                }
            }
            func shouldStop() {}  // later frames are dropped and counted
        }

        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false  // without this line: in real time
        let engine = MediaEngine(configuration: configuration)
        let events = engine.events
        try await engine.setVideoSource(Sunrise())
        let recorder = try Recorder("sunrise.mkv")
        try recorder.start()
        try await engine.addRecorder(recorder)
        try await engine.startPreview()
        try await events.waitForSourceEnd()
        await engine.shutDown()  // passes the queued frames to the recorder
        print(try await recorder.stop())
        // end
    }

    static func motionRecorder(_ camera: String) async throws {
        // Programs
        var plan = BridgePlan(capture: camera)
        plan.detectors = [StreamDetector("motion", pictures: { PictureDetector.motion })]
        plan.recordings = [BridgePlan.Recording(path: "motion.mkv", events: RecordedEvents())]
        plan.recordings[0].configuration.whenExists = .number  // then motion-00001.mkv …

        let bridge = try Bridge(plan)
        let events = bridge.events
        async let report = bridge.run(stopOn: .interrupt)
        for await case .detected(let motion) in events where motion.ended == nil {
            print("motion at \(motion.began)")
        }
        try await report.get()
        for file in bridge.recorders[0].report.files { print(file) }
        // end
    }

    static func pictureInPicture(_ large: String, _ small: String) async throws {
        // Programs
        var plan = BridgePlan(
            capture: "compositor name=both sink_1::xpos=16 sink_1::ypos=16 "
                + "sink_1::width=160 sink_1::height=120 sink_1::sizing-policy=keep-aspect-ratio "
                + "! videoconvert \(large) ! both.sink_0 \(small) ! both.sink_1")
        plan.recordings = [BridgePlan.Recording(path: "both.mkv")]
        print(try await Bridge(plan).run(stopOn: .interrupt).get())
        // end
    }

    static func lightMeter(_ camera: String) async throws {
        // Programs
        /// Prints the mean brightness of each frame, from 0 to 255.
        final class LightMeter: VideoSink {
            func pixelFormat() -> VideoPixelFormat { .gray8 }  // the engine converts

            func render(_ frame: VideoFrame) throws {
                let sum = try frame.withPlanes { planes in
                    var sum = 0
                    for y in 0..<planes[0].rows {
                        let row = planes[0].row(y)
                        for x in row.indices { sum += Int(row[x]) }
                    }
                    return sum
                }
                print("brightness \(sum / (frame.width * frame.height))")
            }
        }

        let engine = MediaEngine()
        let events = engine.events
        try await engine.setVideoSource(PipelineVideoSource(camera))
        try await engine.addVideoSink(LightMeter(), to: .local())
        try await engine.startPreview()
        try await events.waitForSourceEnd()
        await engine.shutDown()  // renders the queued frames
        // end
    }

    static func levelMeter(_ microphone: String) async throws {
        // Programs
        /// Prints the peak of each block of audio as a bar.
        struct LevelMeter: AudioProcessor {
            func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
                let peak = try frame.withSamples(as: Int16.self) { samples in
                    var peak = 0
                    for index in samples.indices { peak = max(peak, abs(Int(samples[index]))) }
                    return peak
                }
                print(String(repeating: "|", count: peak * 60 / 32_768))
                return frame
            }
        }

        var plan = BridgePlan(capture: "\(microphone) ! audioconvert ! audio/x-raw,format=S16LE")
        plan.audioProcessors = [LevelMeter()]
        plan.recordings = [BridgePlan.Recording(path: "talk.flac")]
        print(try await Bridge(plan).run(stopOn: .interrupt).get())
        // end
    }
}

/// The number of rows drawn.
let drawnRows = Mutex(0)
private func draw(_ row: Span<UInt8>) { drawnRows.withLock { $0 += 1 } }
