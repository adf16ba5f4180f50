import Foundation
import GStreamerKit
import Synchronization
import TestSupport
import Testing

@Suite(.hangGuard) struct BusTests {
    @Test func everyListenerGetsEveryMessage() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=3 ! fakesink sync=false")
        let (first, second) = (pipeline.messages, pipeline.messages)
        try await pipeline.setState(.playing)
        let a = await first.collect { $0.isEnd }
        let b = await second.collect { $0.isEnd }
        // Messages that two threads post at once have no order.
        #expect(a.map(\.kind).sorted() == b.map(\.kind).sorted())
        #expect(a.contains { if case .stateChanged(.playing) = $0 { true } else { false } })
        #expect(a.contains { if case .asyncDone = $0 { true } else { false } })
        #expect(a.last?.isEnd == true)
        try await pipeline.setState(.null)
    }

    @Test func removedListenerDoesNotAffectOthers() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=3 ! fakesink sync=false")
        let staying = pipeline.messages
        do {
            let leaving = pipeline.messages
            try await pipeline.setState(.paused)
            for await _ in leaving { break }
        }
        try await pipeline.setState(.playing)
        #expect(await staying.collect { $0.isEnd }.last?.isEnd == true)
        try await pipeline.setState(.null)
    }

    @Test func lateListenerReceivesTheEnd() async throws {
        let pipeline = try Pipeline(parsing: "videotestsrc num-buffers=1 ! fakesink sync=false")
        #expect(!pipeline.hasEnded)
        try await pipeline.playToTheEnd()
        #expect(pipeline.hasEnded)
        #expect(pipeline.failure == nil)
        pipeline.clearOutcome()
        #expect(!pipeline.hasEnded)
        try await pipeline.playToTheEnd()
        #expect(pipeline.hasEnded)
    }

    @Test func errorContainsTheElementAndGStreamersMessage() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("not-a-movie")
        try Data(repeating: 0x41, count: 4096).write(to: URL(filePath: path))
        let pipeline = try Pipeline(
            parsing: "filesrc location=\(path) ! qtdemux name=demux ! fakesink")
        let first = Mutex<[PipelineError]>([])
        pipeline.onFirstError { error in first.withLock { $0.append(error) } }
        let thrown = await #expect(throws: PipelineError.self) {
            try await pipeline.playToTheEnd()
        }
        let error = try #require(thrown)
        #expect(error.code == .streamFailed)
        #expect(error.domain == "gst-stream-error-quark")
        #expect(error.domainCode != nil)
        #expect(error.element?.hasSuffix("demux") == true)
        #expect(error.element?.hasPrefix("/GstPipeline:") == true)
        #expect(error.debug?.contains("qtdemux") == true)
        #expect(!error.message.isEmpty)
        // Late observers see the failure, and an EOS that may follow is not a success.
        #expect(pipeline.failure == error)
        #expect(first.withLock { $0 } == [error])
    }

    @Test func missingDecoderErrorNamesThePackage() async throws {
        // No Debian package decodes it, and GStreamer posts a separate message about it.
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=1 ! video/x-raw,width=16,height=16 ! jpegenc ! "
                + "capssetter caps=video/x-nobody-knows replace=true join=false ! decodebin ! fakesink"
        )
        let error = await #expect(throws: PipelineError.self) { try await pipeline.playToTheEnd() }
        #expect(error?.code == .missingElement)
        #expect(error?.advice?.contains("video/x-nobody-knows") == true)
    }

    @Test func elementMessageIsDelivered() async throws {
        let pipeline = try Pipeline(
            parsing: "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! "
                + "videoanalyse name=look ! fakesink sync=false")
        let messages = pipeline.messages
        try await pipeline.setState(.playing)
        let all = await messages.collect { $0.isEnd || $0.error != nil }
        try await pipeline.setState(.null)
        let own = all.compactMap { message -> String? in
            guard case .element(let path, let structure) = message, path.hasSuffix("look") else {
                return nil
            }
            return structure
        }
        #expect(own.count == 3)
        #expect(own.allSatisfy { $0.contains("luma") })
    }
}
