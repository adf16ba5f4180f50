import CHotPathProbe
import MediaBridge
import Synchronization

/// Moves frames on one of the hot paths and prints how often the process allocated memory, from the
/// start of the program to its end. Callgrind can run it.
///
///     HotPathProbe bridge|each|look|frames|push|render|sound FRAMES
@main
struct HotPathProbe {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let count = Int(words[2]), count > 0 else {
            fatalError("HotPathProbe PATH FRAMES")
        }
        switch words[1] {
        case "bridge": try await Bridge.run(capture: still(count), outputs: [output])
        case "each":
            try await Bridge.run(capture: still(count), outputs: [output]) { note($0.width) }
        case "look":
            try await Bridge.run(capture: still(count), outputs: [output]) { frame in
                note(Int(try frame.withPlanes { $0[0].row(0)[0] }))
            }
        case "frames":
            for try await frame in try PipelineVideoSource(still(count)).frames() {
                note(frame.width)
            }
        case "push": try await push(count)
        case "render": try await render(count)
        case "sound":
            let capture = "audiotestsrc num-buffers=\(count) samplesperbuffer=480"
            for try await frame in try PipelineAudioSource(capture).frames() {
                note(frame.sampleCount)
            }
        default: fatalError("no such path: \(words[1])")
        }
        print(allocation_count())
    }

    private static let output = "fakesink sync=false"

    /// One picture, passed on by reference.
    private static func still(_ count: Int) -> String {
        "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48,framerate=30/1 "
            + "! imagefreeze num-buffers=\(count)"
    }

    /// Keeps the compiler from dropping what a closure reads.
    private static let seen = Atomic<Int>(0)

    @Sendable private static func note(_ value: Int) { seen.add(value, ordering: .relaxed) }

    private static func push(_ count: Int) async throws {
        let sink = try PipelineVideoSink("fakesink sync=false async=false")
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4608, alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: 128)
        let format = VideoFormat(.i420, width: 64, height: 48, frameRate: .init(30, 1))
        for index in 0..<count {
            let time = MediaTime(value: Int64(index), timescale: 30)
            try await sink.write(
                VideoFrame(unsafeNoCopy: bytes, format: format, runningTime: time) {})
        }
        try await sink.finish()
        bytes.deallocate()
    }

    private final class Renderer: VideoSink {
        func render(_ frame: VideoFrame) { HotPathProbe.note(frame.width) }
    }

    private static func render(_ count: Int) async throws {
        var configuration = MediaEngine.Configuration()
        configuration.pace = .asFastAsPossible
        let engine = MediaEngine(configuration: configuration)
        try await engine.setVideoSource(try PipelineVideoSource(still(count)))
        try await engine.addVideoRenderer(Renderer(), to: .local())
        let events = engine.events
        try await engine.startPreview()
        for await event in events {
            if case .sourceEnded = event { break }
        }
        await engine.shutDown()
    }
}
