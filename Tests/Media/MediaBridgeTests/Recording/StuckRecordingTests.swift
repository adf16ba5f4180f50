import Foundation
import Glibc
import MediaBasics
import TestSupport
import Testing

@testable import MediaBridge

/// A clock that runs ten times as fast, so that the recorder's timeouts expire soon.
private final class HastyTimeline: Timeline {
    private let system = TimerThread.system

    var now: Duration { system.now * 10 }
    func schedule(
        after delay: Duration, on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) -> UInt64 { system.schedule(after: delay / 10, on: queue, body) }
    func cancel(_ number: UInt64) { system.cancel(number) }
}

/// Recordings with an unresponsive disk, and with writers that come and go: nothing may block that
/// must not.
@Suite(.hangGuard) struct StuckRecordingTests {
    private static let live = LiveTiming(
        clockOrigin: MediaTime(seconds: 100), latency: MediaTime(seconds: 0.04))

    /// A FIFO whose reader does not read: it has room for one page, or for no byte.
    private func withStuckFile(
        _ ending: String, isFull: Bool = false, _ body: (String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            try #require(mkfifo(path, 0o600) == 0)
            // A write after the reader has closed must not end the process.
            signal(SIGPIPE, SIG_IGN)
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            // F_SETPIPE_SZ: one page.
            _ = fcntl(reader, 1_031, 4_096)
            if isFull {
                let filler = open(path, O_WRONLY | O_NONBLOCK)
                #expect(write(filler, [UInt8](repeating: 0, count: 4_096), 4_096) == 4_096)
                close(filler)
            }
            try await body(path)
        }
    }

    private func configuration(_ whenFull: WhenFull) -> Recorder.Configuration {
        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding()
        configuration.whenFull = whenFull
        configuration.stallTimeout = .seconds(1)
        return configuration
    }

    /// Feeds video and audio on a separate thread until the recorder accepts no more.
    private func feed(
        _ recorder: Recorder, _ frames: RecordedFrames, isFileFirst: Bool = false
    ) -> Happening {
        let done = Happening()
        Thread.detachNewThread {
            defer { done.happen() }
            for index in 0..<100_000 {
                var frames = frames
                if isFileFirst, index == 0 { frames.liveTiming = nil }
                guard let picture = try? frames.picture(index),
                    let sound = try? frames.sound(from: index * 1920, samples: 1920)
                else { return }
                if recorder.consume(picture) == .dropped(.closed) { return }
                if recorder.consume(sound) == .dropped(.closed) { return }
            }
        }
        return done
    }

    @Test(arguments: [("mkv", true), ("mp4", false), ("webm", true), ("ts", false)])
    func stopReleasesWaitingWriters(ending: String, isLive: Bool) async throws {
        try await withStuckFile(ending, isFull: true) { path in
            let recorder = try Recorder(
                path, configuration: configuration(.wait), clock: HastyTimeline())
            let events = recorder.events
            try recorder.start()
            let frames = RecordedFrames(liveTiming: isLive ? Self.live : nil)
            let fed = feed(recorder, frames)
            // After `stallTimeout` without progress, every writer is blocked.
            for await event in events { if case .stalled = event { break } }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .deadlineExceeded)
            await fed.wait()
            let track = try #require(recorder.report.video)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
        }
    }

    /// A disk that takes 10 kB in a second. The end of the recording is bounded, and what the disk did not take is
    /// counted.
    @Test(
        .enabled(if: !Sanitizer.isActive, "the encoder makes too little for a slow disk"),
        arguments: ["mkv", "mp4", "ts"])
    func stopOnASlowDiskCountsUnwrittenFrames(ending: String) async throws {
        try await withStuckFile(ending) { path in
            Thread.detachNewThread {
                // Waits for the writer.
                let disk = open(path, O_RDONLY)
                var bytes = [UInt8](repeating: 0, count: 4096)
                while read(disk, &bytes, bytes.count) > 0 { usleep(400_000) }
                close(disk)
            }
            var configuration = configuration(.automatic)
            configuration.audio = nil
            configuration.stallTimeout = .seconds(10)
            // Each frame is a key frame of a kilobyte.
            configuration.video?.keyFrameInterval = .milliseconds(10)
            let recorder = try Recorder(
                path, configuration: configuration, clock: HastyTimeline())
            try recorder.start()
            let frames = RecordedFrames(width: 320, height: 240, liveTiming: Self.live)
            for index in 0..<2_000 { recorder.consume(try frames.picture(index)) }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.message.contains("too slow") == true, "\(error?.message ?? "")")
            let track = try #require(recorder.report.video)
            #expect(track.written > 0 && track.dropped[.unwritten] > 0)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
        }
    }

    @Test func liveSourceAfterAFileFrameDoesNotBlock() async throws {
        try await withStuckFile("mkv", isFull: true) { path in
            let recorder = try Recorder(
                path, configuration: configuration(.automatic), clock: HastyTimeline())
            try recorder.start()
            // The loop ends by itself: every live frame finds room, because the oldest one is
            // evicted.
            for index in 0..<2_000 {
                let frames = RecordedFrames(liveTiming: index == 0 ? nil : Self.live)
                recorder.consume(try frames.picture(index))
            }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .deadlineExceeded)
            let track = try #require(recorder.report.video)
            #expect(track.offered == 2_000 && track.dropped[.evicted] > 0)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
        }
    }

    @Test func aFileAfterACameraLosesNoFrame() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var configuration = Recorder.Configuration()
            configuration.video = VideoEncoding(.vp9)
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            var frames = RecordedFrames(width: 320, height: 240, liveTiming: Self.live)
            recorder.consume(try frames.picture(0))
            frames.liveTiming = nil
            for index in 1..<50 { recorder.consume(try frames.picture(index)) }
            let report = try await recorder.stop()
            #expect(report.video?.written == 50 && report.video?.dropped.total == 0)
            #expect(try await MediaProbe(of: path).video?.frames == 50)
        }
    }
}
