import Foundation
import MediaBridgeAgora
import MediaBridgeJanus
import TestSupport

/// A user with three tracks, which start, end and change while another user receives all of them.
///
/// Each track shows a single shade of grey at a time, which identifies its content.
enum ChangingTracks {
    /// The frames received on a track.
    struct Sight {
        var pictures = 0
        /// The brightness at the centre of the last frame, from 16 to 235.
        var shade = 0
        /// The size of the last frame.
        var size = VideoSize(width: 0, height: 0)
        /// Brightnesses that nothing has shown, and what was shown before.
        var wrong: [String] = []
    }
    private typealias Sights = Observed<[TrackID: Sight]>

    /// The shades in use. Encoding changes them only slightly.
    private static let shades = [60, 100, 140, 180, 220]
    private static let tolerance = 8
    private static let small = "width=160,height=120"

    /// Prints a line after each step, and leaves.
    static func run(at server: String) async throws {
        let sights = Sights([:])
        let alice = MediaEngine(transport: try JanusTransport(server: server))
        let bob = MediaEngine(transport: try JanusTransport(server: server))
        let events = bob.events
        let pushed = [
            try await alice.createCustomVideoTrack(.bytes),
            try await alice.createCustomVideoTrack(.bytes),
        ]
        for track in [.main] + pushed {
            try await bob.addVideoSink(
                Reader(track, sights), to: .remote("alice", track))
        }
        try await alice.setVideoSource(camera(220))
        try await bob.joinChannel("hall", userID: "bob", role: .audience)
        try await alice.joinChannel("hall", userID: "alice")
        let pushing = Task { try await push(to: alice, [(pushed[0], 100), (pushed[1], 140)]) }
        for track in pushed { try await alice.publishCustomVideoTrack(track) }
        await sights.waits(for: .main, 220)
        await sights.waits(for: pushed[0], 100)
        await sights.waits(for: pushed[1], 140)
        writeLine("three tracks are shown")

        try await alice.unpublishCustomVideoTrack(pushed[0])
        _ = await events.first { event in
            if case .unpublished(.video(pushed[0]), by: "alice") = event { true } else { nil }
        }
        try await alice.publishCustomVideoTrack(pushed[0])
        await sights.waits(for: pushed[0], 100)
        await sights.waits(for: pushed[1], 140)
        writeLine("a track has gone and come again")

        try await alice.setVideoSource(camera(60))
        await sights.waits(for: .main, 60)
        writeLine("the source has changed")

        try await alice.setVideoSource(camera(180, "width=320,height=240"))
        await sights.waits(for: .main, 180, VideoSize(width: 320, height: 240))
        writeLine("the size has changed")

        for (shade, encoder) in [
            (220, "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15"),
            (60, "vp8enc deadline=1 keyframe-max-dist=15"),
        ] {
            try await alice.setVideoSource(camera(shade, encoder: encoder))
            await sights.waits(for: .main, shade)
        }
        writeLine("the codec has changed")

        try await alice.setVideoSource(camera(180))
        await sights.waits(for: .main, 180)
        writeLine("pictures are encoded again")

        pushing.cancel()
        _ = await pushing.result
        for engine in [alice, bob] { try await engine.end() }
        for (track, sight) in sights.value where !sight.wrong.isEmpty {
            throw ProbeFailure("of \(track) was shown: \(sight.wrong)")
        }
    }

    private static func camera(
        _ shade: Int, _ size: String = small, encoder: String? = nil
    ) throws -> PipelineVideoSource {
        let grey = (shade - 16) * 255 / 219
        let text =
            "videotestsrc is-live=true pattern=solid-color foreground-color=\(0xff00_0000 + grey * 0x01_0101) "
            + "! video/x-raw,format=I420,\(size),framerate=15/1"
        return try PipelineVideoSource(encoder.map { "\(text) ! \($0)" } ?? text)
    }

    /// Pushes a frame to each track for each frame of a live source, until the task is cancelled.
    private static func push(to engine: MediaEngine, _ tracks: [(TrackID, Int)]) async throws {
        let metronome = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=16,height=16,framerate=15/1")
        for try await _ in metronome.frames() {
            for (track, shade) in tracks {
                let frame = ExternalVideoFrame()
                frame.format = .i420
                (frame.strideInPixels, frame.height) = (160, 120)
                frame.dataBuf =
                    [UInt8](repeating: UInt8(shade), count: 160 * 120)
                    + [UInt8](repeating: 128, count: 160 * 120 / 2)
                engine.pushExternalVideoFrame(frame, track: track)
            }
        }
    }

    /// Reads the centre of each frame.
    private final class Reader: VideoSink {
        private let track: TrackID
        private let sights: Sights

        init(_ track: TrackID, _ sights: Sights) {
            self.track = track
            self.sights = sights
        }

        func bufferType() -> VideoBufferType { .rawData }
        func pixelFormat() -> VideoPixelFormat { .I420 }

        func renderRawData(
            _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
        ) {
            let middle = size.height / 2 * size.width + size.width / 2
            let shade = Int(rawData.load(fromByteOffset: middle, as: UInt8.self))
            sights.change { [track] sights in
                var sight = sights[track] ?? Sight()
                if !shades.contains(where: { abs($0 - shade) <= tolerance }) {
                    sight.wrong.append(
                        "\(shade), \(size) after \(sight.shade), \(sight.size), picture \(sight.pictures)"
                    )
                }
                sight.pictures += 1
                (sight.shade, sight.size) = (shade, size)
                sights[track] = sight
            }
        }
    }
}

extension Observed<[TrackID: ChangingTracks.Sight]> {
    /// Waits for five more frames of a track, the last of which has this shade.
    fileprivate func waits(for track: TrackID, _ shade: Int, _ size: VideoSize? = nil) async {
        let before = value[track]?.pictures ?? 0
        await wait { sights in
            guard let sight = sights[track] else { return false }
            return sight.pictures >= before + 5 && abs(sight.shade - shade) <= 8
                && (size ?? sight.size) == sight.size
        }
    }
}
