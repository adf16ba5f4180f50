import MediaBridge
import MediaBridgeElements
import TestSupport
import Testing

/// Halves each picture.
private final class Half: VideoProcessor, MediaElement {
    static let caps = "video/x-raw, format=GRAY8"
    static let outputCaps: String? = "video/x-raw, format=GRAY8"

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        var half = try VideoFrame(
            VideoFormat(
                .gray8, width: frame.width / 2, height: frame.height / 2,
                frameRate: frame.format.frameRate), runningTime: frame.runningTime)
        try half.withMutablePlanes { planes in planes[0].fill(77) }
        return half
    }
}

/// Gives frames in a format that it has not declared.
private final class Undeclared: VideoProcessor, MediaElement {
    static let caps = "video/x-raw, format=GRAY8"
    private let half = Half()

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? { try half.process(frame) }
}

/// Passes, drops, repeats, moves or fails, as its property selects.
private final class Odd: VideoProcessor, MediaElement {
    static let caps = "video/x-raw"
    enum Way: String, CaseIterable, Sendable { case passes, drops, fails, moves, repeats }
    @MediaProperty("What it does with every second frame", default: .passes) var wayOfWork: Way
    private var count = 0
    private var kept: VideoFrame?

    struct Failure: Error, CustomStringConvertible { let description = "the second frame is odd" }

    func start() throws { count = 0 }

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        count += 1
        guard count.isMultiple(of: 2) else {
            if wayOfWork == .repeats { kept = frame }
            return frame
        }
        switch wayOfWork {
        case .passes: return frame
        case .drops: return nil
        case .repeats:
            var repeated = kept
            repeated?.runningTime = frame.runningTime
            return repeated
        case .fails: throw Failure()
        case .moves:
            frame.runningTime = frame.runningTime.map { $0 + MediaTime(nanoseconds: 5_000_000) }
            return frame
        }
    }
}

/// Cannot start.
private final class Closed: AudioProcessor, MediaElement {
    static let caps = "audio/x-raw"
    struct Failure: Error, CustomStringConvertible { let description = "nothing is open" }

    func start() throws { throw Failure() }
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame? { frame }
}

private final class Capless: AudioProcessor, MediaElement {
    static let caps = "audio/x-raw, rate="
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame? { frame }
}

/// Classes as elements of this process.
@Suite(.hangGuard)
struct ClassTests {
    init() throws {
        try ElementPlugin("tests", elements: [Half.self, Undeclared.self, Odd.self, Closed.self])
            .register()
    }

    private func frames(_ elements: String) async throws -> [VideoFrame] {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=6 ! video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 ! "
                + "\(elements) ! appsink")
        var frames: [VideoFrame] = []
        for try await frame in source.frames() { frames.append(frame) }
        return frames
    }

    private func milliseconds(_ frames: [VideoFrame]) -> [Int64?] {
        frames.map { $0.runningTime.map { $0.nanoseconds / 1_000_000 } }
    }

    @Test(arguments: [
        "half", "half ! video/x-raw,width=32", "half ! half ! half", "half ! videoscale ! half",
    ])
    func elementMayChangeTheFrameSize(elements: String) async throws {
        let frames = try await frames(elements)
        #expect(milliseconds(frames) == [0, 40, 80, 120, 160, 200])
        let halves =
            elements.contains("videoscale")
            ? 1 : elements.split(separator: " ").count { $0 == "half" }
        #expect(frames.allSatisfy { $0.width <= 64 >> halves })
        for frame in frames {
            #expect(
                try frame.withPlanes { $0[0].row(0)[0] }
                    == 77)
        }
    }

    @Test func sizeChangeMustBeDeclared() async throws {
        let error = await #expect(throws: PipelineError.self) { try await frames("undeclared") }
        #expect(error?.description.contains("declare outputCaps") == true, "\(error as Any)")
    }

    @Test func sizeRefusedDownstreamIsAnError() async throws {
        await #expect(throws: PipelineError.self) {
            try await frames("half ! video/x-raw,width=33")
        }
    }

    @Test func elementCanPassDropShiftAndRepeatFrames() async throws {
        #expect(try await milliseconds(frames("odd")) == [0, 40, 80, 120, 160, 200])
        #expect(try await milliseconds(frames("odd way-of-work=drops")) == [0, 80, 160])
        #expect(
            try await milliseconds(frames("odd way-of-work=repeats"))
                == [0, 40, 80, 120, 160, 200])
        #expect(
            try await milliseconds(frames("odd way-of-work=moves")) == [0, 45, 80, 125, 160, 205])
    }

    @Test func aClassWithInvalidCapsIsNotRegistered() {
        #expect(throws: PipelineError.self) {
            try ElementPlugin("tests", elements: [Capless.self]).register()
        }
    }

    @Test func thrownErrorBecomesThePipelineError() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await frames("odd way-of-work=fails")
        }
        #expect(error?.description.contains("the second frame is odd") == true)
        let closed = await #expect(throws: PipelineError.self) {
            for try await _ in try PipelineAudioSource("audiotestsrc ! closed ! appsink").frames() {
            }
        }
        #expect(closed?.description.contains("nothing is open") == true, "\(closed as Any)")
    }
}
