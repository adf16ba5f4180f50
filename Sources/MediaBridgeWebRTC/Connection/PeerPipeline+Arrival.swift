internal import GStreamerKit
internal import MediaCore

extension PeerPipeline {
    /// Adds the counts of the jitter buffers: what came, what is lost, what was sent again.
    func addArrival(to statistics: inout PeerStatistics) {
        for (buffer, kind) in jitterBuffers(sources.withLock { $0 }) {
            guard let arrival = buffer.jitterBufferStatistics else { continue }
            switch kind {
            case .audio: Self.add(arrival, to: &statistics.audio)
            case .video: Self.add(arrival, to: &statistics.video)
            }
        }
    }

    /// The number of packets of video that have come.
    var videoPackets: Int {
        jitterBuffers(sources.withLock { $0 }).reduce(0) { sum, next in
            next.1 == .video ? sum + (next.0.jitterBufferStatistics?.pushed ?? 0) : sum
        }
    }

    /// Says how reports are made, when both descriptions are set.
    ///
    /// - Parameter numbers: The identifier of the extension with transport-wide numbers; `nil` if there is none.
    func setReports(numbers: Int?) {
        bin.reportAtOnce()
        if let numbers {
            let seen = SeenNumbers()
            bin.filterNumbers(ofExtension: numbers, in: pipeline) { seen.isNew($0) }
        }
        guard configuration.isPeerJanus else { return }
        bin.onOwnControlPacket { [weak self] packet in
            guard let self else { return }
            let kinds = self.sources.withLock { $0 }
            ReportForJanus.adjust(packet) { kinds[$0] == .video }
        }
    }

    /// How fast corrections of the times of sound take effect, in nanoseconds a packet: slower than what
    /// ``AudioContinuity`` takes for times of arrival, by which sound cannot be kept in step with pictures.
    private static let soundCorrection = "1000000"

    /// Notes what a source sends. Asks for its lost packets if it is video: in a bundle webrtcbin does for all
    /// sources what was said of one of them.
    func note(source: UInt32, sends kind: MediaKind) {
        let kinds = sources.withLock { sources in
            sources[source] = kind
            return sources
        }
        for (buffer, kind) in jitterBuffers(kinds) {
            buffer.set("do-retransmission", kind == .video ? "true" : "false")
            if kind == .audio { buffer.set("max-ts-offset-adjustment", Self.soundCorrection) }
        }
    }

    private func jitterBuffers(_ kinds: [UInt32: MediaKind]) -> [(Element, MediaKind)] {
        pipeline.elements.filter { $0.factoryName == "rtpjitterbuffer" }.compactMap { buffer in
            let source = buffer.pad("sink")?.packetSource
            return source.flatMap { kinds[$0] }.map { (buffer, $0) }
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
