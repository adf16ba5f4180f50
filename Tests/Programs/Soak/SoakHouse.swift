import Foundation
import MediaBridge
import MediaBridgeTesting

/// The objects that live through the whole soak, and the short-lived ones around them.
final class SoakHouse {
    private let network = LoopbackNetwork()
    private let host: MediaEngine
    private let recorder: Recorder
    private let directory: String

    private static func picture(_ pattern: Int) -> String {
        "videotestsrc is-live=true pattern=\(pattern % 20) ! "
            + "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
    }

    private static func sound(_ number: Int) -> String {
        "audiotestsrc is-live=true freq=\(220 + number % 20 * 20) ! audio/x-raw,rate=48000,channels=2"
    }

    /// An engine in a channel. Its video and audio are recorded in segments, of which the newest three are
    /// kept.
    init(directory: String) async throws {
        self.directory = directory
        host = MediaEngine(transport: network)
        var configuration = Recorder.Configuration()
        configuration.segments = RecordingSegments(
            length: .seconds(1), keepFiles: 3)
        configuration.audio = AudioEncoding()
        recorder = try Recorder("\(directory)/segment.mkv", configuration: configuration)
        try recorder.start()
        try await host.setVideoSource(PipelineVideoSource(Self.picture(0)))
        try await host.setAudioSource(PipelineAudioSource(Self.sound(0)))
        try await host.addRecorder(recorder)
        try await host.startPreview()
        try await host.joinChannel("soak", userID: "host")
    }

    /// The parts of a cycle.
    enum Part: String, CaseIterable, Sendable {
        case visit, swap, sound, record, bridge, leave, units
    }

    func cycle(_ number: Int, of parts: [Part]) async throws {
        for part in parts {
            switch part {
            case .visit: try await visit(number)
            case .swap: try await host.setVideoSource(PipelineVideoSource(Self.picture(number)))
            case .sound: try await host.setAudioSource(PipelineAudioSource(Self.sound(number)))
            case .record: try await record(number)
            case .bridge: try await bridge()
            case .leave: try await leave()
            case .units: try await units()
            }
        }
    }

    /// A guest joins, receives the host's video and audio, sends its own, and leaves.
    private func visit(_ number: Int) async throws {
        let guest = MediaEngine(transport: network)
        try await guest.setVideoSource(PipelineVideoSource(Self.picture(number + 1)))
        try await guest.setAudioSource(PipelineAudioSource(Self.sound(number + 1)))
        try await guest.addAudioSink(
            PipelineAudioSink("audioconvert ! fakesink"), to: .playback)
        try await guest.startPreview()
        try await guest.joinChannel("soak", userID: "guest")
        _ = try await guest.takeSnapshot(of: .remote("host"))
        _ = try await host.takeSnapshot(of: .remote("guest"))
        if number % 2 == 0 { try await guest.leaveChannel() }
        await guest.shutDown()
    }

    /// A complete recording, with a different container in each cycle.
    private func record(_ number: Int) async throws {
        let endings = RecordingContainer.allCases.filter { !$0.videoCodecs.isEmpty }
        let ending = endings[number % endings.count].rawValue
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120")
        var configuration = Recorder.Configuration()
        configuration.whenExists = .overwrite
        let recorder = try Recorder("\(directory)/whole.\(ending)", configuration: configuration)
        try recorder.start()
        for try await frame in source.frames() { try await recorder.write(frame) }
        try await recorder.stop()
    }

    private func bridge() async throws {
        var plan = BridgePlan(
            capture: "videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120 ! "
                + "appsink name=video audiotestsrc num-buffers=10 ! appsink name=audio",
            outputs: [
                "appsrc name=video ! jpegenc ! matroskamux name=m ! fakesink "
                    + "appsrc name=audio ! audioconvert ! opusenc ! m."
            ])
        plan.processors = [VideoFilter.grayscale]
        try await Bridge(plan).run().get()
    }

    /// A capture that is abandoned midway, and a capture that fails.
    private func leave() async throws {
        for try await _ in try PipelineVideoSource("videotestsrc is-live=true").frames() { break }
        let broken = try PipelineVideoSource("filesrc location=/nowhere ! decodebin")
        do { for try await _ in broken.frames() {} } catch is PipelineError {}
    }

    /// Encoded video and audio that are decoded.
    private func units() async throws {
        let film = try PipelineVideoSource(
            "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48 ! "
                + "x264enc tune=zerolatency ! h264parse")
        for try await _ in film.frames() {}
        let sound = try PipelineAudioSource("audiotestsrc num-buffers=5 ! opusenc")
        for try await _ in sound.frames() {}
    }

    func close() async throws {
        await host.shutDown()
        try await recorder.stop()
    }
}
