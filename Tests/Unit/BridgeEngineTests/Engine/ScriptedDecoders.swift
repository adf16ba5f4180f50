import Dispatch
import MediaBasics
import MediaCore
import Synchronization

/// Decoders that make a small picture of every unit, and record their calls.
final class ScriptedDecoders: Sendable {
    private let state = Mutex((calls: [String](), areMissing: false))

    var calls: [String] { state.withLock { $0.calls } }
    /// Whether no decoder can be created.
    var areMissing: Bool {
        get { state.withLock { $0.areMissing } }
        set { state.withLock { $0.areMissing = newValue } }
    }

    func make(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) -> any VideoDecoder {
        note("make \(codec.rawValue)")
        return Decoder(codec, consumer, self)
    }

    /// Blocks one decoder before its next picture, until the result is signalled.
    func block() -> Hang {
        let hang = Hang()
        gate.withLock { $0 = hang }
        return hang
    }

    private func hold() { gate.withLock { $0.take() }?.wait() }
    private let gate = Mutex<Hang?>(nil)

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    /// A unit whose last byte is zero is damaged: it is accepted but produces no picture. A last
    /// byte of 255 is not decodable, and 254 finds the queue full.
    private final class Decoder: VideoDecoder {
        private let codec: VideoCodec
        private let consumer: any VideoFrameConsumer
        private let owner: ScriptedDecoders
        private let lost = Atomic<Int>(0)
        let room = MonotonicSignal()

        init(
            _ codec: VideoCodec, _ consumer: any VideoFrameConsumer,
            _ owner: ScriptedDecoders
        ) {
            (self.codec, self.consumer, self.owner) = (codec, consumer, owner)
        }

        func decode(_ unit: EncodedVideoFrame) -> FrameDisposition {
            switch unit.bytes.last {
            case 255: return .dropped(.undecodable)
            case 254: return .dropped(.queueFull)
            case 0: lost.add(1, ordering: .relaxed)
            default:
                guard var picture = try? frame(0) else { return .dropped(.badFormat) }
                picture.runningTime = unit.runningTime
                picture.liveTiming = unit.liveTiming
                picture.metadata["from"] = codec.rawValue
                picture.metadata["unit"] = unit.bytes.map(String.init).joined(separator: " ")
                owner.hold()
                consumer.consume(picture)
            }
            return .accepted
        }
        var lostUnits: Int { lost.load(ordering: .relaxed) }
        func drain() { owner.note("drain \(codec.rawValue)") }
        func stop() { owner.note("stop \(codec.rawValue)") }
    }
}

extension VideoCodec {
    /// A unit that resembles one of the codec's.
    ///
    /// - Parameter mark: The last byte of the unit.
    func unit(isKey: Bool, mark: UInt8 = 1) -> EncodedVideoFrame {
        let head: [UInt8] =
            switch self {
            case .h264: [0, 0, 0, 1, isKey ? 0x65 : 0x41]
            case .vp8: [isKey ? 0x10 : 0x11, 1, 0]
            default: [0xff, 0xd8]
            }
        return EncodedVideoFrame(self, bytes: head + [7, mark], runningTime: nil)
    }
}
