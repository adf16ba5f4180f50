import BridgeEngine
import Foundation
import MediaBasics
import MediaBridgeAgora
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Real H.264 through engines: recorded and sent unchanged, and decoded once for all renderers.
@Suite(.hangGuard) struct EngineUnitTests {
    /// A GStreamer backend that counts the decoders that exist.
    private final class CountingBackend: MediaBackend {
        private let gstreamer = GStreamerBackend()
        private let counts = Mutex((made: 0, present: 0))
        var made: Int { counts.withLock { $0.made } }
        var present: Int { counts.withLock { $0.present } }

        func clockTime() -> MediaTime { gstreamer.clockTime() }
        func makeDefaultSource() throws -> sending any VideoSource {
            try gstreamer.makeDefaultSource()
        }
        func makeConverter() -> any VideoConverter { gstreamer.makeConverter() }
        func makeDecoder(
            _ codec: VideoCodec, to consumer: any VideoFrameConsumer
        ) throws -> any VideoDecoder {
            let decoder = try gstreamer.makeDecoder(codec, to: consumer)
            counts.withLock { ($0.made, $0.present) = ($0.made + 1, $0.present + 1) }
            return Counted(decoder, self)
        }

        private final class Counted: VideoDecoder {
            private let decoder: any VideoDecoder
            private let owner: CountingBackend
            init(_ decoder: any VideoDecoder, _ owner: CountingBackend) {
                (self.decoder, self.owner) = (decoder, owner)
            }
            func decode(_ unit: EncodedVideoFrame) -> FrameDisposition { decoder.decode(unit) }
            var room: MonotonicSignal { decoder.room }
            var lostUnits: Int { decoder.lostUnits }
            var pictureSurplus: Int { decoder.pictureSurplus }
            func drain() { decoder.drain() }
            func stop() {
                decoder.stop()
                owner.counts.withLock { $0.present -= 1 }
            }
        }
    }

    private final class Screen: VideoSink, Sendable {
        let times = Observed<[MediaTime]>([])
        func render(_ frame: VideoFrame) throws {
            times.change { $0.append(frame.runningTime ?? .zero) }
        }
    }

    /// Writes a film of one second.
    private func film(_ path: String, _ encoder: String) async throws {
        try await Tool.check(
            "gst-launch-1.0",
            ["-q"]
                + ("videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=48,"
                + "framerate=30/1 ! \(encoder) ! filesink location=\(path)").split(separator: " ")
                .map(String.init))
    }

    /// With and without reordered frames, and without a clock, where no frame may be lost.
    @Test(arguments: [0, 2])
    func sourceIsRecordedSentAndShownWithOneDecoder(reordered: Int) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mp4")
            try await film(
                path,
                "x264enc bframes=\(reordered) b-adapt=false key-int-max=15 ! h264parse ! mp4mux")
            let network = LoopbackNetwork()
            let (near, far) = (CountingBackend(), CountingBackend())
            var configuration = MediaEngine.Configuration()
            configuration.isRealTime = false
            let sender = MediaEngine(
                configuration: configuration, backend: near, transport: network)
            let receiver = MediaEngine(
                configuration: configuration, backend: far, transport: network)
            let events = sender.events
            // The receiver records, and has no renderer.
            let copies = [directory.file("near.mkv"), directory.file("far.mkv")]
            let recorders = try copies.map { try Recorder($0) }
            for recorder in recorders { try recorder.start() }
            try await receiver.addRecorder(recorders[1], to: .remote("sender"))
            try await receiver.joinChannel("room", userID: "receiver", role: .audience)
            try await sender.addRecorder(recorders[0])
            let screens = [Screen(), Screen()]
            for screen in screens { try await sender.addVideoSink(screen, to: .local()) }
            try await sender.setVideoSource(
                PipelineVideoSource("filesrc location=\(path) ! qtdemux ! h264parse"))
            try await sender.joinChannel("room", userID: "sender")
            for await event in events { if case .sourceEnded = event { break } }
            for screen in screens { await screen.times.wait { $0.count >= 30 } }
            await sender.shutDown()
            await receiver.shutDown()
            var reports: [RecorderReport] = []
            for recorder in recorders { reports.append(try await recorder.stop()) }

            let track = try #require(await sender.statistics.local[.main])
            #expect(
                track.accepted == 30 && track.decoding == FrameBalance(offered: 30, delivered: 30))
            #expect(near.made == 1 && near.present == 0)
            #expect(far.made == 0)
            for screen in screens {
                let times = screen.times.value
                #expect(times.count == 30 && times == times.sorted())
            }
            let hashes = try await MediaProbe.packets(of: path)
            for (copy, report) in zip(copies, reports) {
                expectBalanced(report)
                #expect(report.video?.written == 30)
                #expect(try await MediaProbe.packets(of: copy) == hashes)
                #expect(try await MediaProbe.videoTimes(of: copy).count == 30)
            }
        }
    }

    private static let films = CopyTests.films.filter { !$0.0.isSound }

    /// Without a clock, where no frame may be lost: a file is decoded and copied as fast as both
    /// can run.
    @Test(arguments: films)
    func filePassesThroughAnEngineUnchanged(film: CopyTests.Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let (source, capture) = try await film.made()
            var configuration = MediaEngine.Configuration()
            configuration.isRealTime = false
            let backend = CountingBackend()
            let engine = MediaEngine(
                configuration: configuration, backend: backend, transport: LoopbackNetwork())
            let events = engine.events
            let path = directory.file("copy.mkv")
            let recorder = try Recorder(path)
            try recorder.start()
            try await engine.addRecorder(recorder)
            let screen = Screen()
            try await engine.addVideoSink(screen, to: .local())
            try await engine.setVideoSource(PipelineVideoSource(capture))
            try await engine.startPreview()
            for await event in events { if case .sourceEnded = event { break } }
            await engine.shutDown()
            let report = try await recorder.stop()
            #expect(report.video?.written == 30 && report.video?.encoder == "copy")
            #expect(try await MediaProbe.packets(of: path) == MediaProbe.packets(of: source))
            let times = screen.times.value
            #expect(times.count == 30 && times == times.sorted() && Set(times).count == 30)
            #expect(backend.made == 1 && backend.present == 0)
            await expectBalanced(engine)
        }
    }

    @Test func aSourceDeliversItsUnitsToARecordersInput() async throws {
        try await withTemporaryDirectory { directory in
            let (original, capture) = try await CopyTests.reordered.made()
            let path = directory.file("copy.mp4")
            let recorder = try Recorder(path)
            let events = recorder.events
            try recorder.start()
            let source = try PipelineVideoSource(capture)
            source.consumer = recorder.videoInput
            try await onControl {
                _ = try source.shouldInitialize()
                try source.shouldStart()
            }
            var report: RecorderReport?
            for await case .finished(let final) in events { report = final }
            try await onControl {
                try source.shouldStop()
                try source.shouldDispose()
            }
            #expect(report?.ended == .eos && report?.video?.written == 30)
            #expect(try await MediaProbe.packets(of: path) == MediaProbe.packets(of: original))
        }
    }

    /// The camera outputs one keyframe by itself, and then one for each request.
    @Test func lateRecorderReceivesAKeyframe() async throws {
        try await withTemporaryDirectory { directory in
            let engine = MediaEngine()
            let source = try PipelineVideoSource(
                "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=50/1 ! "
                    + "x264enc key-int-max=100000 tune=zerolatency ! h264parse")
            try await engine.setVideoSource(source)
            let screen = Screen()
            try await engine.addVideoSink(screen, to: .local())
            try await engine.startPreview()
            await screen.times.wait { $0.count >= 5 }
            let path = directory.file("late.mkv")
            let recorder = try Recorder(path)
            try recorder.start()
            try await engine.addRecorder(recorder)
            await recorder.wait(forUnits: 10)
            let report = try await recorder.stop()
            await engine.shutDown()
            #expect((report.video?.written ?? 0) >= 10)
            let keys = try await MediaProbe.keyPackets(of: path)
            #expect(keys.first == true && keys.count { $0 } == 1)
            #expect(try await MediaProbe.pictures(of: path).count == keys.count)
        }
    }

    /// Every codec, pushed by a program to a recording and a renderer.
    @Test(arguments: EncodedUnits.codecs)
    func pushedUnitsAreRecordedUnchanged(codec: VideoCodec) async throws {
        try await withTemporaryDirectory { directory in
            let units = try await EncodedUnits.make(codec, 20)
            let backend = CountingBackend()
            let engine = MediaEngine(backend: backend, transport: LoopbackNetwork())
            try await engine.setExternalVideoSource(.encoded)
            let path = directory.file("out.mkv")
            let recorder = try Recorder(path)
            try recorder.start()
            try await engine.addRecorder(recorder)
            let screen = Screen()
            let shown = try await engine.addVideoSink(screen, to: .local())
            try await engine.startPreview()
            for (index, unit) in units.enumerated() {
                if index == 10 { try await engine.removeVideoSink(shown) }
                #expect(engine.pushExternalEncodedVideoFrame(unit) == .accepted)
                if index < 10 { await screen.times.wait { $0.count > index } }
            }
            await engine.shutDown()
            let report = try await recorder.stop()
            #expect(report.video?.written == 20)
            #expect(backend.made == 1 && backend.present == 0)
            #expect(await engine.statistics.local[.main]?.decoding.offered == 10)
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 20)
            #expect(try await MediaProbe.pictures(of: path).count == 20)
        }
    }
}
