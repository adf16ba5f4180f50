/// Where a bridge's streams go besides strings and recordings: what a gst-launch string cannot do, such as
/// signalling with a server.
///
/// Media comes from the threads of the captures; no call may block for longer than a frame lasts, except
/// where media that is not live is to be paced.
package protocol BridgeDestination: AnyObject, Sendable {
    /// The codecs of units that are taken as they are.
    func codecs() -> Set<EncodedVideoFrame.Codec>

    /// Called before the first media.
    ///
    /// - Parameters:
    ///   - streams: The kinds of media that come.
    ///   - onKeyFrameNeeded: To be called when a key unit is needed.
    ///   - onFailure: To be called once if the destination has failed for good.
    func begin(
        _ streams: Set<MediaKind>, onKeyFrameNeeded: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (PipelineError) -> Void)

    /// Takes a picture.
    func take(_ frame: consuming VideoFrame) -> FrameDisposition
    /// Takes a unit of one of the ``codecs()``.
    func take(_ unit: EncodedVideoFrame) -> FrameDisposition
    /// Takes samples.
    func take(_ frame: AudioFrame) -> FrameDisposition
    /// Takes a unit of audio.
    func take(_ unit: EncodedAudioFrame) -> FrameDisposition

    /// Sends what waits, and ends.
    func finish() async

    /// What became of the pictures; of the sound, if there are none.
    var balance: FrameBalance { get }
}

/// A destination of a bridge, and its name.
struct BridgeDestinationOutput: Sendable {
    let name: String
    let destination: any BridgeDestination
    private let streams: [String: MediaKind]

    /// - Parameter names: The names of the captures' streams: `audio` is sound, the first other one
    ///   pictures.
    init(_ named: BridgePlan.Destination, streams names: [String]) {
        name = named.name
        destination = named.destination
        var streams: [String: MediaKind] = [:]
        let pictures =
            names.contains(BridgedText.defaultBranch)
            ? BridgedText.defaultBranch : names.first { $0 != BridgedText.audioBranch }
        if let pictures { streams[pictures] = .video }
        if names.contains(BridgedText.audioBranch) { streams[BridgedText.audioBranch] = .audio }
        self.streams = streams
    }

    var kinds: Set<MediaKind> { Set(streams.values) }

    /// The name of the stream whose pictures are taken; `nil` if none are.
    var pictures: String? { streams.first { $0.value == .video }?.key }

    /// Returns the consumer of a stream; `nil` if the destination does not take it.
    func taker(of stream: String) -> (any StreamTaker)? {
        streams[stream].map { Taker(destination: destination, kind: $0) }
    }

    var counts: BridgeReport.Counts {
        let balance = destination.balance
        return BridgeReport.Counts(
            frames: balance.delivered, dropped: balance.dropped, balance: balance, bytes: nil)
    }

    private final class Taker: StreamTaker {
        private let destination: any BridgeDestination
        private let kind: MediaKind

        init(destination: any BridgeDestination, kind: MediaKind) {
            self.destination = destination
            self.kind = kind
        }

        /// Any caps: what is no unit of a codec that is taken as it is has to be raw.
        var acceptedCaps: Caps? { nil }
        func acceptedCaps(of caps: Caps?) -> Caps? { nil }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition { destination.take(frame) }

        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { destination.take(unit) }

        func take(_ sample: MediaSample) -> FrameDisposition {
            if kind == .audio {
                if let frame = sample.audioFrame { return destination.take(frame) }
                return sample.isHeader ? .accepted : destination.take(EncodedAudioFrame(sample))
            }
            if sample.isHeader { return .accepted }
            return destination.take(EncodedVideoFrame(sample, rotation: .none))
        }

        func take(_ tags: Tags) {}

        func endOfStream(isAtLimit: Bool) {}
    }
}

extension BridgePlan {
    /// Where streams go besides strings and recordings.
    package struct Destination: Sendable {
        /// The name in reports, among the outputs.
        package var name: String
        /// The destination.
        package var destination: any BridgeDestination

        package init(name: String, _ destination: any BridgeDestination) {
            self.name = name
            self.destination = destination
        }
    }
}
