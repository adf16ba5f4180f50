import Dispatch
import MediaBasics
import MediaCore
import Synchronization

/// Encoders that make a small unit of every frame, and record their calls.
final class ScriptedEncoders: Sendable {
    private struct State {
        var calls: [String] = []
        var settings: [VideoEncoderSettings] = []
        var refusal: Refusal?
        var names = ["scripted"]
        weak var last: Encoder?
        /// Whether frames stay in the encoder until it ends.
        var holds = false
    }
    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }
    var settings: [VideoEncoderSettings] { state.withLock { $0.settings } }
    /// The error that the creation of further encoders throws.
    func refuse(_ refusal: Refusal?) { state.withLock { $0.refusal = refusal } }
    /// Sets the names of the encoders, the preferred one first. Default one.
    func name(_ names: String...) { state.withLock { $0.names = names } }
    func hold() { state.withLock { $0.holds = true } }
    /// Makes the current encoder fail.
    func fail() { state.withLock { $0.last }?.fail() }

    func make(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        let names = state.withLock { $0.names }
        guard let name = names.first(where: { !settings.avoided.contains($0) }) else {
            throw Refusal(reason: "all have failed")
        }
        let encoder = Encoder(name, settings.codec, consumer, self)
        state.withLock { state in
            state.calls.append("make \(settings.codec.rawValue)")
            state.settings.append(settings)
            state.last = encoder
        }
        return encoder
    }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    final class Encoder: VideoEncoder {
        let name: String
        private let codec: VideoCodec
        private let consumer: any VideoFrameConsumer
        private let owner: ScriptedEncoders
        let room = MonotonicSignal()
        private let state = Mutex((isKey: true, isOpen: true, number: UInt8(0)))

        init(
            _ name: String, _ codec: VideoCodec, _ consumer: any VideoFrameConsumer,
            _ owner: ScriptedEncoders
        ) {
            self.name = name
            (self.codec, self.consumer, self.owner) = (codec, consumer, owner)
        }

        func encode(_ frame: VideoFrame) -> FrameDisposition {
            guard state.withLock({ $0.isOpen }) else { return .dropped(.closed) }
            if owner.state.withLock({ $0.holds }) { return .accepted }
            let (isKey, number) = state.withLock { state in
                defer { (state.isKey, state.number) = (false, state.number + 1) }
                return (state.isKey, state.number + 1)
            }
            var unit = codec.unit(isKey: isKey, mark: number)
            unit.runningTime = frame.runningTime
            unit.liveTiming = frame.liveTiming
            consumer.consume(unit)
            return .accepted
        }
        func requestKeyFrame() {
            owner.note("key frame")
            state.withLock { $0.isKey = true }
        }
        func setBitRate(_ bitRate: Int) { owner.note("bit rate \(bitRate)") }
        func stop() { owner.note("stop \(codec.rawValue)") }
        func fail() {
            state.withLock { $0.isOpen = false }
            consumer.sourceDidFail(Refusal(reason: "no more"))
        }
    }
}
