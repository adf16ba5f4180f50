/// A destination for a bridge's streams in addition to strings and recordings: for what a gst-launch
/// string cannot do, such as signalling with a server.
///
/// Called on the threads of the captures. No call may block for longer than the duration of a frame,
/// except to pace media that is not live.
package protocol BridgeDestination: AnyObject, Sendable {
    /// Called before the first media.
    ///
    /// - Parameters:
    ///   - streams: The kinds of media that will arrive.
    ///   - onKeyFrameNeeded: To be called when a key frame is needed.
    ///   - onFailure: To be called once if the destination has failed permanently.
    func begin(
        _ streams: Set<MediaKind>, onKeyFrameNeeded: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (PipelineError) -> Void)

    /// Takes a picture.
    func take(_ frame: consuming VideoFrame) -> FrameDisposition
    /// Takes an encoded frame (access unit).
    func take(_ unit: EncodedVideoFrame) -> FrameDisposition
    /// Takes samples.
    func take(_ frame: AudioFrame) -> FrameDisposition
    /// Takes an encoded audio frame.
    func take(_ unit: EncodedAudioFrame) -> FrameDisposition

    /// Sends the waiting media, and ends.
    func finish() async

    /// The counts of the video frames; of the audio, if there are none.
    var balance: FrameBalance { get }

    /// The packets that were sent; `nil` if they are not counted.
    var packets: PacketCounts? { get }
}

/// A destination of a bridge, and its name.
struct BridgeDestinationOutput: Sendable {
    let name: String
    let destination: any BridgeDestination
    /// A destination takes one audio track.
    private let streams: [String: MediaKind]

    /// - Parameter names: The names of the captures' streams.
    init(_ named: BridgePlan.Destination, streams names: [String]) {
        name = named.name
        destination = named.destination
        streams = RecordedStream.taken(from: names).filter { $0.value.number == 0 }.mapValues(
            \.kind)
    }

    var kinds: Set<MediaKind> { Set(streams.values) }

    /// The name of the stream whose pictures are taken; `nil` if none are.
    var pictures: String? { streams.first { $0.value == .video }?.key }

    /// Returns what receives a stream; `nil` if the destination does not take it.
    func receiver(of stream: String) -> (any MediaReceiver)? {
        streams[stream].map { Receiver(destination: destination, kind: $0) }
    }

    var counts: StreamCounts {
        StreamCounts(destination.balance, packets: destination.packets)
    }

    private final class Receiver: MediaReceiver {
        private let destination: any BridgeDestination
        private let kind: MediaKind

        init(destination: any BridgeDestination, kind: MediaKind) {
            self.destination = destination
            self.kind = kind
        }

        func receive(_ frame: consuming VideoFrame) -> FrameDisposition { destination.take(frame) }

        func receive(_ sample: MediaSample) -> FrameDisposition {
            if kind == .audio {
                if let frame = sample.audioFrame { return destination.take(frame) }
                return sample.isHeader ? .accepted : destination.take(EncodedAudioFrame(sample))
            }
            if sample.isHeader { return .accepted }
            return destination.take(EncodedVideoFrame(sample, rotation: .upright))
        }

        func streamEnded(_ end: StreamEnd) {}
    }
}

extension BridgePlan {
    /// A destination for streams in addition to strings and recordings.
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
