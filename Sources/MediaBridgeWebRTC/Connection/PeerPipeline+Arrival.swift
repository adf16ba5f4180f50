internal import GStreamerKit
internal import MediaCore

extension PeerPipeline {
    /// Adds the counts of the jitter buffers: what came, what is lost, what was sent again.
    func addArrival(to statistics: inout PeerStatistics) {
        for element in pipeline.elements where element.factoryName == "rtpjitterbuffer" {
            guard let arrival = element.jitterBufferStatistics else { continue }
            let kind =
                element.pad("src")?.peer?.caps?.description ?? element.pad("sink")?.caps?
                .description ?? ""
            if kind.contains("media=(string)audio") {
                Self.add(arrival, to: &statistics.audio)
            } else {
                Self.add(arrival, to: &statistics.video)
            }
        }
    }

    private static func add(
        _ arrival: JitterBufferStatistics, to stream: inout PeerStatistics.Stream
    ) {
        stream.packets += arrival.pushed
        stream.lost += arrival.lost
        stream.resent += arrival.recovered
        stream.jitter = max(stream.jitter, arrival.jitter)
    }
}
