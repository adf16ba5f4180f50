import Foundation
import GStreamerKit
import TestSupport
import Testing

@Suite(.hangGuard) struct StateTests {
    @Test func pipelineCanBeRestartedRepeatedly() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=2 ! fakesink sync=false")
        for _ in 0..<20 { try await pipeline.playToTheEnd() }
        #expect(pipeline.failure == nil)
    }

    @Test func aLivePipelineReachesPausedWithoutData() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc is-live=true ! fakesink")
        try await pipeline.setState(.paused)
        try await pipeline.setState(.null)
    }

    @Test func stateChangeReturnsWithoutData() async throws {
        let pipeline = try Pipeline(parsing: "appsrc ! fakesink")
        try await pipeline.setState(.playing)
        try await pipeline.setState(.null)
    }

    @Test func aMissingFileFailsAtOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("nothing-here.mkv")
        let pipeline = try Pipeline(parsing: "filesrc name=src location=\(path) ! fakesink")
        let error = await #expect(throws: PipelineError.self) {
            try await pipeline.setState(.playing)
        }
        #expect(error?.code == .notFound)
        #expect(error?.element?.hasSuffix("src") == true)
        #expect(error?.description.contains(path) == true)
        #expect(pipeline.failure?.code == .notFound)
        try await pipeline.setState(.null)
    }

    @Test func sinkInAMissingDirectoryFails() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("no/such/directory/out.bin")
        let pipeline = try Pipeline(parsing: "videotestsrc ! filesink location=\(path)")
        let error = await #expect(throws: PipelineError.self) {
            try await pipeline.setState(.playing)
        }
        #expect(error?.code == .resourceFailed || error?.code == .notFound)
        try await pipeline.setState(.null)
    }

    /// A pipeline that opens a FIFO without a writer, which blocks forever.
    private func stuckPipeline(_ fifo: String) throws -> Pipeline {
        try #require(mkfifo(fifo, 0o600) == 0)
        return try Pipeline(parsing: "filesrc location=\(fifo) ! fakesink")
    }

    /// Opens the other end, which waits for the reader, and closes it so that the reader gets EOF.
    private func release(_ fifo: String) async {
        await onAThreadOfItsOwn {
            let descriptor = open(fifo, O_WRONLY)
            if descriptor >= 0 { close(descriptor) }
        }
    }

    @Test func aStateChangeThatNeverReturnsExceedsItsDeadline() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.file("fifo")
        let pipeline = try stuckPipeline(fifo)
        let error = await #expect(throws: PipelineError.self) {
            try await pipeline.setState(.playing, deadline: .milliseconds(100))
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.message.contains("playing") == true)
        // A later state change waits behind this one, and fails in the same way.
        let second = await #expect(throws: PipelineError.self) {
            try await pipeline.setState(.null, deadline: .milliseconds(100))
        }
        #expect(second?.code == .deadlineExceeded)
        await release(fifo)
        try await pipeline.setState(.null)
    }

    @Test func theBlockingCallHasTheSameDeadline() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.file("fifo")
        let pipeline = try stuckPipeline(fifo)
        let code = await onAThreadOfItsOwn { () -> PipelineError.Code? in
            do {
                try pipeline.setStateAndWait(.paused, deadline: .milliseconds(100))
                return nil
            } catch {
                return (error as? PipelineError)?.code
            }
        }
        #expect(code == .deadlineExceeded)
        await release(fifo)
        try await pipeline.setState(.null)
    }

    @Test func stuckPipelineCanBeReleased() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.file("fifo")
        do {
            let pipeline = try stuckPipeline(fifo)
            await #expect(throws: PipelineError.self) {
                try await pipeline.setState(.playing, deadline: .milliseconds(100))
            }
        }
        await release(fifo)
    }

    @Test func requestedStateIsReachedAsynchronously() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=2 ! fakesink sync=false")
        let messages = pipeline.messages
        pipeline.requestState(.playing)
        #expect(await messages.collect { $0.isEnd }.last?.isEnd == true)
        try await pipeline.setState(.null)
    }

    /// An appsink that is full, or at EOS, holds a lock that the state change needs, so it must not
    /// take the lock first. The window is a few microseconds wide, hence the many attempts.
    @Test(arguments: ["", "max-buffers=1"])
    func unreadAppsinkDoesNotBlockTheChangeToPlaying(bound: String) async throws {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        await #expect(throws: Never.self) {
                            let pipeline = try Pipeline(
                                parsing: "audiotestsrc num-buffers=3 samplesperbuffer=1 ! "
                                    + "appsink name=out async=false sync=false \(bound)")
                            try await pipeline.setState(.playing)
                            try await pipeline.setState(.null)
                        }
                    }
                }
            }
        }
    }
}
