import MediaCore
import Synchronization

/// Decoders that make a small picture of every unit, and note what is asked of them.
final class ScriptedDecoders: Sendable {
    private let state = Mutex((calls: [String](), areMissing: false))

    var calls: [String] { state.withLock { $0.calls } }
    /// Whether none can be made.
    var areMissing: Bool {
        get { state.withLock { $0.areMissing } }
        set { state.withLock { $0.areMissing = newValue } }
    }

    func make(
        _ codec: EncodedVideoFrame.Codec, to consumer: any VideoFrameConsumer
    ) -> any VideoDecoder {
        note("make \(codec.rawValue)")
        return Decoder(codec, consumer, self)
    }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    /// A unit whose first byte is zero is damaged: it is taken, and nothing comes of it. One whose first
    /// byte is 255 is no unit at all.
    private final class Decoder: VideoDecoder {
        private let codec: EncodedVideoFrame.Codec
        private let consumer: any VideoFrameConsumer
        private let owner: ScriptedDecoders
        private let lost = Atomic<Int>(0)

        init(
            _ codec: EncodedVideoFrame.Codec, _ consumer: any VideoFrameConsumer,
            _ owner: ScriptedDecoders
        ) {
            (self.codec, self.consumer, self.owner) = (codec, consumer, owner)
        }

        func decode(_ unit: EncodedVideoFrame) -> FrameDisposition {
            switch unit.bytes.first {
            case 255: return .dropped(.undecodable)
            case 0: lost.add(1, ordering: .relaxed)
            default:
                guard var picture = try? frame(0) else { return .badFormat }
                picture.runningTime = unit.time
                picture.metadata["from"] = codec.rawValue
                consumer.consume(picture)
            }
            return .accepted
        }
        var lostUnits: Int { lost.load(ordering: .relaxed) }
        func drain() { owner.note("drain \(codec.rawValue)") }
        func stop() { owner.note("stop \(codec.rawValue)") }
    }
}
