import Dispatch
import TestSupport
import Testing

@testable import MediaBridge

/// A pipeline source as an engine runs it: how runs end, and repeated runs.
@Suite(.hangGuard) struct SourceRunTests {
    private static let tiny = "video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1"

    private func initialized(
        _ text: String, to receiver: Receiver
    ) async throws -> PipelineVideoSource {
        let source = try PipelineVideoSource(text)
        source.consumer = receiver
        try await onControl {
            let isReady = try source.shouldInitialize()
            #expect(isReady)
        }
        return source
    }

    @Test(arguments: [false, true])
    func endIsReportedOnceAfterTheLastFrame(isLive: Bool) async throws {
        let receiver = Receiver()
        let source = try await initialized(
            "videotestsrc is-live=\(isLive) num-buffers=10 ! \(Self.tiny)", to: receiver)
        try await onControl { try source.shouldStart() }
        await receiver.wait { $0.endings > 0 }
        #expect(receiver.frames.count + source.statistics.dropped.total == 10)
        expectBalanced(source.statistics)
        guard case .ended? = receiver.news.last else {
            Issue.record("the end is not the last event: \(receiver.news)")
            return
        }
        try await onControl {
            try source.shouldStop()
            try source.shouldDispose()
        }
        #expect(receiver.endings == 1)
    }

    @Test(arguments: [false, true])
    func aFileStartsAgainFromItsBeginning(isDisposedOf: Bool) async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 12
            clip.hasAudio = false
            let film = try await clip.make(at: directory.file("film.mkv"))
            let receiver = Receiver()
            let source = try await initialized(
                "filesrc location=\(film) ! decodebin ! videoconvert", to: receiver)
            var first: [MediaTime?] = []
            for run in 0..<4 {
                receiver.forget()
                try await onControl { try source.shouldStart() }
                await receiver.wait { $0.endings > 0 }
                if run == 0 { first = receiver.times }
                #expect(receiver.times == first && first.count == 12)
                #expect(receiver.endings == 1)
                try await onControl {
                    try source.shouldStop()
                    guard isDisposedOf else { return }
                    try source.shouldDispose()
                    source.consumer = receiver
                    _ = try source.shouldInitialize()
                }
            }
            try await onControl { try source.shouldDispose() }
            #expect(source.consumer == nil)
        }
    }

    @Test(arguments: [false, true])
    func errorIsReportedOnceAfterTheLastFrameInEveryRun(
        isLive: Bool
    ) async throws {
        let receiver = Receiver()
        let source = try await initialized(
            "videotestsrc is-live=\(isLive) ! \(Self.tiny) ! identity error-after=5", to: receiver)
        for _ in 0..<3 {
            receiver.forget()
            try await onControl { try source.shouldStart() }
            await receiver.wait { $0.failure != nil }
            #expect(receiver.failure?.element?.contains("identity") == true)
            #expect(receiver.frames.count + source.statistics.dropped.total == 4)
            expectBalanced(source.statistics)
            try await onControl { try source.shouldStop() }
            #expect(receiver.endings == 1)
            guard case .failed? = receiver.news.last else {
                Issue.record("the failure is not the last event: \(receiver.news)")
                return
            }
        }
        // Also without the stop in between.
        for _ in 0..<2 {
            receiver.forget()
            try await onControl { try source.shouldStart() }
            await receiver.wait { $0.failure != nil }
        }
        try await onControl { try source.shouldDispose() }
    }

    /// The consumer takes no frame until the live capture has failed, so its queue overflows.
    @Test func everyFrameIsAccountedForWhenAFailureIsReported() async throws {
        var configuration = PipelineVideoSource.Configuration()
        configuration.depth = 1
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! \(Self.tiny) ! identity error-after=6",
            configuration: configuration)
        let (door, hasFailed) = (Door(), Happening())
        let receiver = Receiver { _ in door.pass() }
        source.consumer = receiver
        source.pipeline.onMessage { if case .error = $0 { hasFailed.happen() } }
        try await onControl {
            _ = try source.shouldInitialize()
            try source.shouldStart()
        }
        await hasFailed.wait()
        door.open()
        await receiver.wait { $0.failure != nil }
        let statistics = source.statistics
        expectBalanced(statistics)
        #expect(statistics.offered == 5 && statistics.delivered == receiver.frames.count)
        #expect(statistics.dropped[.evicted] >= 3)
        try await onControl { try source.shouldDispose() }
        #expect(source.statistics == statistics)
    }

    /// Stops a live capture while its consumer is slower than the capture.
    @Test func everyFrameIsAccountedForAfterAStop() async throws {
        let (door, returned) = (Door(), Observed(0))
        let receiver = Receiver { _ in
            door.pass()
            returned.change { $0 += 1 }
        }
        let source = try await initialized(
            "videotestsrc is-live=true ! \(Self.tiny) ! identity name=count", to: receiver)
        let count = Observed(0)
        try #require(source.pipeline.element(named: "count")?.pad("src"))
            .onBuffer { count.change { $0 += 1 } }
        try await onControl { try source.shouldStart() }
        await count.wait { $0 > 6 }
        async let stop: Void = onControl { try source.shouldStop() }
        door.open()
        try await stop
        #expect(returned.value == receiver.frames.count, "the stop waits for the consumer")
        expectBalanced(source.statistics)
        try await onControl { try source.shouldDispose() }
    }

    @Test func failedStartThrowsWithoutAnEventAndCanBeRetried() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 5
            clip.hasAudio = false
            let film = directory.file("film.mkv")
            let receiver = Receiver()
            let source = try await initialized(
                "filesrc location=\(film) ! decodebin ! videoconvert", to: receiver)
            for _ in 0..<2 {
                let error = await #expect(throws: PipelineError.self) {
                    try await onControl { try source.shouldStart() }
                }
                #expect(error?.code == .notFound)
                #expect(error?.description.contains(film) == true)
            }
            #expect(receiver.news.isEmpty)
            try await clip.make(at: film)
            try await onControl { try source.shouldStart() }
            await receiver.wait { $0.endings > 0 }
            #expect(receiver.frames.count == 5 && receiver.endings == 1)
            try await onControl { try source.shouldDispose() }
        }
    }

    @Test func missingDeviceFailsAtInitialize() async throws {
        let source = try PipelineVideoSource("v4l2src device=/dev/video-nosuch ! videoconvert")
        for _ in 0..<2 {
            await #expect(throws: PipelineError.self) {
                try await onControl { _ = try source.shouldInitialize() }
            }
        }
        try await onControl { try source.shouldDispose() }
    }

    @Test func stopReportsNoEnd() async throws {
        let receiver = Receiver()
        let source = try await initialized("videotestsrc ! \(Self.tiny)", to: receiver)
        for _ in 0..<3 {
            receiver.forget()
            try await onControl { try source.shouldStart() }
            await receiver.wait { $0.frames.count > 3 }
            try await onControl { try source.shouldStop() }
            #expect(receiver.endings == 0)
        }
        try await onControl { try source.shouldDispose() }
    }

    @Test func endOvertakenByAStopIsNotReportedInTheNextRun() async throws {
        let receiver = Receiver()
        let source = try await initialized(
            "videotestsrc num-buffers=1 ! \(Self.tiny)", to: receiver)
        for _ in 0..<100 {
            receiver.forget()
            try await onControl {
                try source.shouldStart()
                try source.shouldStop()
            }
            #expect(receiver.endings <= 1)
        }
        receiver.forget()
        try await onControl { try source.shouldStart() }
        await receiver.wait { $0.endings > 0 }
        #expect(receiver.frames.count == 1)
        try await onControl { try source.shouldDispose() }
        #expect(receiver.endings == 1)
    }

    /// An engine holds the first frames of a file back until the start has succeeded.
    @Test(arguments: [
        "videotestsrc num-buffers=20 ! TINY", "videotestsrc num-buffers=20 ! TINY ! queue",
        "videotestsrc num-buffers=20 ! TINY ! videoconvert ! queue max-size-buffers=1 ! identity",
        "FILE",
    ])
    func startDoesNotDeadlockWithAConsumerThatWaitsForIt(text: String) async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 20
            let film = try await clip.make(at: directory.file("film.mkv"))
            let capture =
                text == "FILE"
                ? "filesrc location=\(film) ! decodebin name=d d. ! queue ! videoconvert"
                : text.replacing("TINY", with: Self.tiny)
            for _ in 0..<10 {
                let door = Door()
                let receiver = Receiver { _ in door.pass() }
                let source = try await initialized(capture, to: receiver)
                try await onControl { try source.shouldStart() }
                door.open()
                await receiver.wait { $0.endings > 0 }
                #expect(receiver.frames.count == 20)
                try await onControl { try source.shouldDispose() }
            }
        }
    }

    /// Stops its source inside the end or failure callback.
    private final class Stopper: VideoFrameConsumer {
        let source: PipelineVideoSource
        let stopped = AsyncStream.makeStream(of: Bool.self)
        init(_ source: PipelineVideoSource) { self.source = source }
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition { .accepted }
        func sourceDidEnd() { stop() }
        func sourceDidFail(_ error: any Error) { stop() }
        private func stop() {
            do {
                try source.shouldStop()
                try source.shouldDispose()
                stopped.continuation.yield(true)
            } catch { stopped.continuation.yield(false) }
        }
    }

    @Test(arguments: ["num-buffers=3 ! TINY", "! TINY ! identity error-after=3"])
    func endHandlerMayStopTheSource(text: String) async throws {
        let source = try PipelineVideoSource(
            "videotestsrc \(text)".replacing("TINY", with: Self.tiny))
        let stopper = Stopper(source)
        source.consumer = stopper
        try await onControl {
            _ = try source.shouldInitialize()
            try source.shouldStart()
        }
        var stopped = stopper.stopped.stream.makeAsyncIterator()
        #expect(await stopped.next() == true)
    }

    @Test func unreadAudioDoesNotBlockVideo() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.frames = 90
            let film = try await clip.make(at: directory.file("film.mkv"))
            let text =
                "filesrc location=\(film) ! decodebin name=d "
                + "d. ! queue max-size-buffers=2 ! videoconvert ! appsink name=video "
                + "d. ! queue max-size-buffers=2 ! audioconvert ! appsink name=audio"
            let receiver = Receiver()
            let source = try await initialized(text, to: receiver)
            try await onControl { try source.shouldStart() }
            await receiver.wait { $0.endings > 0 }
            #expect(receiver.frames.count == 90)
            try await onControl { try source.shouldDispose() }
            var count = 0
            for try await _ in source.frames() { count += 1 }
            #expect(count == 90)
        }
    }

    @Test func nonVideoStreamIsAFailure() async throws {
        let receiver = Receiver()
        let source = try await initialized(
            "videotestsrc num-buffers=3 ! \(Self.tiny) ! jpegenc", to: receiver)
        try await onControl { try source.shouldStart() }
        await receiver.wait { $0.endings > 0 }
        #expect(receiver.failure?.message.contains("image/jpeg") == true)
        try await onControl { try source.shouldDispose() }
        #expect(receiver.endings == 1 && receiver.frames.isEmpty)
    }

    @Test func anEngineAndAReaderDoNotShareASource() async throws {
        let source = try await initialized("videotestsrc ! \(Self.tiny)", to: Receiver())
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in source.frames() {}
        }
        #expect(error?.code == .invalidState)
        try await onControl { try source.shouldDispose() }
        var iterator = source.frames().makeAsyncIterator()
        _ = try await iterator.next()
        let other = await #expect(throws: PipelineError.self) {
            try await onControl { _ = try source.shouldInitialize() }
        }
        #expect(other?.code == .invalidState)
        #expect(try await iterator.next() != nil, "the reader reads on")
    }
}
