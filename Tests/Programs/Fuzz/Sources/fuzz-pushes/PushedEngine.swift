import Dispatch
import MediaBridge
import MediaBridgeAgora

/// An engine in preview, with a track for each kind of push, and a renderer that reads every pixel.
struct PushedEngine: Sendable {
    let engine: MediaEngine
    let pictures: TrackID
    let units: TrackID

    static let shared: PushedEngine = {
        let made = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: PushedEngine?
        Task.detached {
            do { result = try await make() } catch { fatalError("\(error)") }
            made.signal()
        }
        made.wait()
        return result!
    }()

    private static func make() async throws -> PushedEngine {
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false
        let engine = MediaEngine(configuration: configuration)
        try await engine.setExternalVideoSource(.bytes)
        let pictures = try await engine.createCustomVideoTrack(.pixelBuffers)
        let units = try await engine.createCustomVideoTrack(.encoded)
        try await engine.addVideoSink(Reader(), to: .local())
        try await engine.addVideoSink(Reader(), to: .local(pictures))
        try await engine.startPreview()
        return PushedEngine(engine: engine, pictures: pictures, units: units)
    }

    private final class Reader: VideoSink {
        private var sum = 0

        func render(_ frame: VideoFrame) throws {
            try frame.withPlanes { planes in
                for index in 0..<planes.count {
                    let plane = planes[index]
                    for row in 0..<plane.rows {
                        let bytes = plane.row(row)
                        for offset in bytes.indices { sum &+= Int(bytes[offset]) }
                    }
                }
            }
        }
    }
}
