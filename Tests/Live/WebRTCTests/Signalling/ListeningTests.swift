import Foundation
import MediaBridge
import MediaBridgeHTTP
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server inside the test process, like the one in `share`.
@Suite(.hangGuard) struct ListeningTests {
    private static func server() -> WebRTCServer {
        var configuration = WebRTCServer.Configuration()
        configuration.connection.localAddresses = ["127.0.0.1"]
        return WebRTCServer(configuration: configuration)
    }

    @Test func publishedMediaIsPlayedAtItsAddress() async throws {
        let server = Self.server()
        let engine = MediaEngine(transport: server)
        try await engine.setVideoSource(
            PipelineVideoSource(
                "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=15/1"))
        try await engine.joinChannel("studio", userID: "camera")
        let listener = try await server.listen(on: "127.0.0.1:0")
        let url = try #require(listener.urls.first)
        #expect(url == "http://127.0.0.1:\(try #require(listener.port))/")
        let page = try #require(URL(string: url))
        let (data, _) = try await URLSession.shared.data(from: page)
        #expect(String(decoding: data, as: UTF8.self).contains("<video"))

        var configuration = PeerConnection.Configuration()
        configuration.localAddresses = ["127.0.0.1"]
        let source = try PipelineVideoSource(whep: url + "whep", connection: configuration)
        var times: [MediaTime] = []
        for try await frame in source.frames() {
            #expect(frame.size == VideoSize(width: 160, height: 120))
            times.append(try #require(frame.runningTime))
            if times.count == 5 { break }
        }
        #expect(times.count == 5 && times == times.sorted())

        await listener.close()
        #expect(listener.port == nil && listener.urls.isEmpty)
        await #expect(throws: URLError.self) { try await URLSession.shared.data(from: page) }
        await engine.shutDown()
    }

    @Test(arguments: ["8080", "127.0.0.1:99999", "host.example:80", "[::1", "unix:", ""])
    func invalidListenAddressIsRefused(address: String) async throws {
        let error = try await #require(throws: PipelineError.self) {
            try await Self.server().listen(on: address)
        }
        #expect(error.code == .badValue)
        #expect(error.description.contains("IPV4:PORT"))
    }

    @Test func addressInUseErrorContainsTheSystemError() async throws {
        let other = try LocalListener()
        let error = try await #require(throws: PipelineError.self) {
            try await Self.server().listen(on: "127.0.0.1:\(other.port)")
        }
        #expect(error.code == .resourceFailed)
        #expect(error.message.contains("Address already in use"))
    }

    @Test func unixSocketIsRemovedWithItsListener() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("bridge.socket")
            let listener = try await Self.server().listen(on: "unix:\(path)")
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(listener.port == nil && listener.urls.isEmpty)
            await listener.close()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
