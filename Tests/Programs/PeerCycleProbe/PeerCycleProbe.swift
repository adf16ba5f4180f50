import CLiveObjects
import Foundation
import MediaBridgeWebRTC
import Synchronization

/// Opens and closes CYCLES peer connections in every state. It prints the number of descriptors and threads
/// after a fifth of the cycles and after all of them. Run it under GStreamer's `leaks` tracer to find leaked
/// objects.
///
///     PeerCycleProbe CYCLES
@main
struct PeerCycleProbe {
    static func main() async {
        var cycle = 0
        soak_count_objects()
        do {
            let cycles = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 50
            while cycle < cycles {
                cycle += 1
                try await run(cycle)
                if cycle == max(cycles / 5, 1) { await report("early") }
            }
            await report("late")
            soak_wait_for_handshakes()
            GStreamer.deinitialize()
        } catch {
            FileHandle.standardError.write(Data("cycle \(cycle): \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ cycle: Int) async throws {
        let codec: VideoCodec = cycle % 2 == 0 ? .h264 : .vp8
        var media = PeerConnection.Media(video: [codec])
        media.hasDataChannel = cycle % 3 == 0
        var configuration = PeerConnection.Configuration()
        configuration.localAddresses = ["127.0.0.1"]
        let observer = Observer()
        let sender = PeerConnection(
            .sender, media, configuration: configuration, observer: observer)
        let receiver = PeerConnection(
            .receiver, media, configuration: configuration, observer: observer)
        switch cycle % 5 {
        case 0:
            // The offer is not answered.
            _ = try await sender.offer()
        case 1:
            // The offer is answered, and the connection is closed before it connects.
            let answer = try await receiver.answer(sender.offer())
            try await sender.accept(answer: answer)
        default:
            let answer = try await sender.answer(receiver.offer())
            try await receiver.accept(answer: answer)
            try await send(codec, from: sender, until: observer)
        }
        // Either side closes first; some connections are released without a close.
        if cycle % 7 == 0 { return }
        if cycle % 2 == 0 { await sender.close() }
        await receiver.close()
        await sender.close()
    }

    private static func send(
        _ codec: VideoCodec, from sender: PeerConnection, until observer: Observer
    ) async throws {
        let encoder =
            codec == .h264 ? "x264enc tune=zerolatency key-int-max=5" : "vp8enc deadline=1"
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=64,height=64,framerate=100/1 ! \(encoder)"
        )
        for try await unit in source.encodedFrames() {
            sender.send(unit)
            if observer.count.load(ordering: .relaxed) >= 5 { break }
        }
        try await source.stop()
    }

    private static func report(_ name: String) async {
        GStreamer.waitForTeardown()
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .count
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        print("\(name) descriptors \(descriptors ?? 0) threads \(threads ?? 0)")
    }
}

private final class Observer: PeerConnectionObserver {
    let count = Atomic<Int>(0)
    func stateChanged(_ state: PeerConnection.State) {}
    func receive(_ unit: EncodedVideoFrame) { count.add(1, ordering: .relaxed) }
}
