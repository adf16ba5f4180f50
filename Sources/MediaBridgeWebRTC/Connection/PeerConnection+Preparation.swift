package import BridgeEngine
internal import Dispatch
internal import GStreamerKit
internal import MediaBasics

extension PeerConnection {
    /// Runs `body` and, concurrently, the one-time setup that the first connection of a process
    /// would wait for: it loads the plugins and makes the certificate of all connections, in 0.2 to
    /// 1 s. Returns when both are done. Later calls only run `body`.
    package static func preparing<R: Sendable>(
        _ body: () async throws(EngineError) -> R
    ) async throws(EngineError) -> R {
        _ = preparation
        let result: Result<R, EngineError>
        do throws(EngineError) { result = .success(try await body()) } catch {
            result = .failure(error)
        }
        await withCheckedContinuation { done in
            preparation.notify(queue: .global()) { done.resume() }
        }
        return try result.get()
    }

    private static let preparation: DispatchGroup = {
        let group = DispatchGroup()
        group.enter()
        OpenSSLExit.prevent()
        GStreamer.countAsTeardown(on: SerialQueue(label: "mediabridge.webrtc.preparation")) {
            defer { group.leave() }
            // The first connection reports missing elements.
            _ = try? Pipeline(parsing: "webrtcbin nicesrc srtpenc")
            guard let pipeline = try? Pipeline(parsing: "dtlssrtpdec identity") else { return }
            for state in [PipelineState.ready, .null] {
                _ = try? pipeline.setStateAndWait(state, deadline: .seconds(5))
            }
        }
        return group
    }()
}
