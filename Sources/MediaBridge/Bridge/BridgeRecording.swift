extension BridgePlan {
    /// Whether a recording takes both video and audio.
    var recordsBothKinds: Bool {
        recordings.contains { $0.configuration.video != nil && $0.configuration.audio != nil }
    }

    /// Whether a recording names the codec of a stream, which must then exist.
    func requires(_ kind: MediaKind) -> Bool {
        recordings.contains {
            (kind == .video ? $0.configuration.video?.requested : $0.configuration.audio?.requested)
                != nil
        }
    }
}

/// A recording of a bridge: the streams that it takes, and its counts.
struct BridgeRecording: Sendable {
    let name: String
    let recorder: Recorder
    let startsWithBridge: Bool
    /// Maps the name of a capture's stream to the recording's.
    private let streams: [String: RecordedStream]

    /// - Parameters:
    ///   - names: Names of the captures' streams.
    ///   - detectors: The detectors of the plan.
    init(
        _ recording: BridgePlan.Recording, streams names: [String], detectors: [StreamDetector]
    ) throws(PipelineError) {
        var configuration = recording.configuration.completed(for: recording.path)
        if var events = recording.events {
            let names = Set(detectors.map(\.name))
            if events.detectors.isEmpty { events.detectors = names }
            guard !names.isEmpty, events.detectors.isSubset(of: names) else {
                throw PipelineError(
                    .badValue,
                    message:
                        "the recording \"\(recording.path)\" depends on a detector that the plan "
                        + "does not have",
                    advice: "add it to BridgePlan.detectors")
            }
            configuration.events = events
        }
        let all = RecordedStream.taken(from: names)
        if !names.contains(RecordedStream.video.name), names.count > all.count {
            throw PipelineError(
                .wrongEnds,
                message:
                    "the recording \"\(recording.path)\" holds one video stream and audio streams named "
                    + "audio, audio2 …, but the captures have \(names.joined(separator: ", "))",
                advice: "name the appsinks: appsink name=video, appsink name=audio")
        }
        let streams = all.filter {
            $0.value == .video ? configuration.video != nil : configuration.audio != nil
        }
        configuration.audioTracks = max(1, streams.values.count { $0.kind == .audio })
        for kind in MediaKind.allCases where !streams.values.contains(RecordedStream(kind)) {
            let requested =
                kind == .video ? configuration.video?.requested : configuration.audio?.requested
            // A codec is named although there is no such stream.
            if let requested {
                throw PipelineError(
                    .wrongEnds,
                    message: "the recording \"\(recording.path)\" needs a stream "
                        + "\"\(kind.rawValue)\" (codec \(requested)), but the captures have only "
                        + names.joined(separator: ", "),
                    advice: "name its appsink: appsink name=\(kind.rawValue); or select no codec")
            }
            if kind == .video { configuration.video = nil } else { configuration.audio = nil }
        }
        guard !streams.isEmpty else {
            throw PipelineError(
                .wrongEnds,
                message: "the recording \"\(recording.path)\" accepts none of the streams "
                    + names.joined(separator: ", "),
                advice: "name the appsinks: appsink name=video, appsink name=audio")
        }
        name = recording.name
        startsWithBridge = recording.startsWithBridge
        recorder = try Recorder(recording.path, configuration: configuration)
        self.streams = streams
    }

    /// Returns what receives a stream; `nil` if the recording does not take it.
    func receiver(of stream: String) -> (any MediaReceiver)? {
        streams[stream].map { Receiver(recorder: recorder, stream: $0) }
    }

    var counts: StreamCounts {
        let report = recorder.report
        let track = report.tracks.first
        return StreamCounts(
            frames: track?.written ?? 0, dropped: track?.losses ?? DropCounts(),
            balance: report.tracks.map(\.balance).reduce(FrameBalance(), +), bytes: report.bytes)
    }

    private final class Receiver: MediaReceiver {
        private let recorder: Recorder
        private let stream: RecordedStream

        init(recorder: Recorder, stream: RecordedStream) {
            self.recorder = recorder
            self.stream = stream
        }

        /// The formats that every player decodes. A higher bit depth is kept only if the capture
        /// has no other format.
        var preferredCaps: Caps? {
            guard stream == .video, let video = recorder.configuration.video, !video.isCopy,
                video.codec != .ffv1
            else { return nil }
            return AppSink.commonFormats
        }

        func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
            if stream == .video { return recorder.consume(frame) }
            if let caps = try? Caps("video/x-raw") {
                recorder.fail(PipelineError.notRaw(caps, stream))
            }
            return .dropped(.badFormat)
        }

        func receive(_ sample: MediaSample) -> FrameDisposition {
            if stream.kind == .audio, let frame = sample.audioFrame {
                return recorder.consume(frame, of: stream)
            }
            // The caps contain it, too.
            if sample.isHeader { return .accepted }
            return recorder.consume(sample, of: stream)
        }

        func receive(_ tags: Tags) { recorder.note(tags, of: stream) }

        func streamWasInterrupted() { recorder.expectKeyUnit(of: stream) }

        func streamEnded(_ end: StreamEnd) { recorder.end(stream) }
    }
}
