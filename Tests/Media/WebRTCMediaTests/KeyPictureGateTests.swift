import GStreamerKit
import Synchronization
import TestSupport
import Testing

@testable import struct MediaBridgeWebRTC.KeyPictureGate

/// H.264 streams with packet loss through GStreamer's own elements: no frame may be decoded
/// incorrectly.
struct KeyPictureGateTests {
    private static let count = 120

    /// A stream in which every frame is different.
    private static func film(in directory: TemporaryDirectory, slices: Int) async throws -> String {
        let path = directory.file("whole.h264")
        try await Tool.check(
            "gst-launch-1.0",
            [
                "-q", "videotestsrc", "pattern=ball", "animation-mode=frames",
                "num-buffers=\(count)",
                "!",
                "video/x-raw,format=I420,width=160,height=120,framerate=30/1", "!", "x264enc",
                "tune=zerolatency", "speed-preset=ultrafast", "threads=\(slices)",
                "key-int-max=10", "!", "video/x-h264,profile=constrained-baseline", "!",
                "h264parse", "!", "video/x-h264,stream-format=byte-stream", "!", "filesink",
                "location=\(path)",
            ])
        return path
    }

    /// Sends the stream in packets, drops some of them, and writes the output of the depayloader.
    private func lose(
        _ share: Double, of film: String, packetSize: Int, seed: UInt64, isGated: Bool = true,
        to path: String
    ) async throws {
        let pipeline = try Pipeline(
            parsing:
                "filesrc location=\(film) ! h264parse config-interval=-1 "
                + "! video/x-h264,stream-format=byte-stream,alignment=au ! rtph264pay name=pay "
                + "config-interval=0 aggregate-mode=zero-latency mtu=\(packetSize) ! queue "
                + "! rtph264depay name=depay wait-for-keyframe=true ! h264parse config-interval=-1 "
                + "! video/x-h264,stream-format=byte-stream,alignment=au ! filesink location=\(path)"
        )
        let generator = Mutex(SeededGenerator(seed: seed))
        pipeline.element(named: "pay")?.pad("src")?.filterBuffers { _ in
            generator.withLock { Double.random(in: 0..<1, using: &$0) >= share }
        }
        if isGated {
            let gate = Mutex(KeyPictureGate())
            let depayloader = pipeline.element(named: "depay")
            depayloader?.pad("sink")?.filterPackets { packet in
                gate.withLock { $0.judge(packet) } == .pass
            }
            depayloader?.pad("src")?.filterBuffers { isKey in
                gate.withLock { $0.admitsPicture(isKey: isKey) }
            }
        }
        let isOver = Happening()
        pipeline.onMessage { message in if case .endOfStream = message { isOver.happen() } }
        try await pipeline.setState(.playing)
        await isOver.wait()
        try await pipeline.setState(.null)
    }

    @Test(arguments: [1, 4]) func lossYieldsNoCorruptFrame(slices: Int) async throws {
        try await withTemporaryDirectory { directory in
            let film = try await Self.film(in: directory, slices: slices)
            let whole = Set(try await MediaProbe.pictures(of: film))
            #expect(whole.count == Self.count)
            for (seed, share, size) in Self.losses {
                let path = directory.file("lossy-\(seed).h264")
                try await lose(share, of: film, packetSize: size, seed: seed, to: path)
                let pictures = try await MediaProbe.pictures(of: path)
                // At the end of the stream, the depayloader outputs what it has of the last frame.
                let wrong = pictures.indices.dropLast().filter { !whole.contains(pictures[$0]) }
                #expect(wrong.isEmpty, "seed \(seed), \(share) lost: \(wrong) of \(pictures.count)")
                if share == 0 { #expect(pictures.count == Self.count) }
                if share <= 0.03 { #expect(pictures.count >= Self.count / 10, "seed \(seed)") }
            }
            guard slices > 1 else { return }
            // The reason for the gate. If this fails, GStreamer no longer needs it.
            let path = directory.file("not-gated.h264")
            try await lose(0.03, of: film, packetSize: 200, seed: 3, isGated: false, to: path)
            #expect(try await MediaProbe.pictures(of: path).contains { !whole.contains($0) })
        }
    }

    private static let losses: [(seed: UInt64, share: Double, packetSize: Int)] = [
        (1, 0, 200), (2, 0, 1200), (3, 0.01, 200), (4, 0.01, 1200), (5, 0.03, 200),
        (6, 0.03, 1200), (7, 0.1, 200), (8, 0.1, 1200),
    ]
}
