internal import GStreamerKit
internal import MediaBasics

extension PeerConnection {
    /// Does beforehand what the first connection of a process would wait for: the plugins are loaded and the
    /// certificate of all connections is made, in 0.2 to 1 s. Does not block, and does nothing a second time.
    package static func prepare() { _ = preparation }

    private static let preparation: SerialQueue = {
        let queue = SerialQueue(label: "mediabridge.webrtc.preparation")
        // A process that exits meanwhile would crash in OpenSSL: whoever waits for teardown waits for this.
        GStreamer.countAsTeardown(on: queue) {
            // What is missing is told by the first connection.
            _ = try? Pipeline(parsing: "webrtcbin nicesrc srtpenc")
            guard let pipeline = try? Pipeline(parsing: "dtlssrtpdec identity") else { return }
            for state in [PipelineState.ready, .null] {
                _ = try? pipeline.setStateAndWait(state, deadline: .seconds(5))
            }
        }
        return queue
    }()
}
