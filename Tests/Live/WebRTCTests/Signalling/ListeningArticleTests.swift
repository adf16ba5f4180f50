import Foundation
import MediaBridgeHTTP
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The program that the article shows, to the letter, and run.
@Suite(.hangGuard) struct ListeningArticleTests {
    private static func ownFrames(_ address: String) async throws -> (MediaEngine, HTTPListener) {
        // MediaBridgeHTTP
        /// Delivers grey frames that get brighter, until it is stopped.
        final class Lamp: VideoSource {
            var consumer: (any VideoFrameConsumer)?
            private var thread: Thread?
            func needsPacing() -> Bool { true }  // the engine waits for each timestamp
            func shouldStart() {
                guard let consumer else { return }
                thread = Thread {
                    var number: Int64 = 0
                    while !Thread.current.isCancelled {
                        do {
                            let size = VideoSize(width: 640, height: 360)
                            var picture = try PixelBuffer(.gray8, size: size)
                            try picture.withMutablePlanes { $0[0].fill(UInt8(number % 256)) }
                            let time = MediaTime(value: number, timescale: 30)
                            consumer.consume(VideoFrame(picture, runningTime: time))
                        } catch {
                            return consumer.sourceDidFail(error)
                        }
                        number += 1
                    }
                }
                thread?.start()
            }
            func shouldStop() { thread?.cancel() }
        }

        let server = WebRTCServer()
        let engine = MediaEngine(transport: server)
        try await engine.setVideoSource(Lamp())
        try await engine.joinChannel("studio", userID: "lamp")
        let listener = try await server.listen(on: address)
        print(listener.urls)  // ["http://127.0.0.1:8080/"]
        // end
        return (engine, listener)
    }

    @Test func theArticleHasThisProgram() throws {
        let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let program = try #require(
            code.components(separatedBy: "        // MediaBridgeHTTP\n").dropFirst().first?
                .components(separatedBy: "        // end\n").first)
        let lines = program.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.dropFirst(8) }
        let article = try Repository.text(
            "Sources/MediaBridgeHTTP/MediaBridgeHTTP.docc/MediaBridgeHTTP.md")
        #expect(article.contains(lines.joined(separator: "\n")))
    }

    @Test func showsTheFramesOfAClassInAPage() async throws {
        let (engine, listener) = try await Self.ownFrames("127.0.0.1:0")
        let url = try #require(listener.urls.first)
        let (page, _) = try await URLSession.shared.data(from: #require(URL(string: url)))
        #expect(String(decoding: page, as: UTF8.self).contains("<video"))

        let viewer = try PipelineVideoSource(whep: url + "whep")
        var levels: [UInt8] = []
        for try await frame in viewer.frames() {
            #expect(frame.size == VideoSize(width: 640, height: 360))
            levels.append(try frame.withPlanes { $0[0].row(0)[0] })
            if levels.count == 5 { break }
        }
        // White is followed by black.
        #expect(levels.count == 5 && (1..<128).contains(levels[4] &- levels[0]))
        await listener.close()
        await engine.shutDown()
    }
}
