import BridgeEngine
import Dispatch
import MediaCore
import Synchronization
import TestSupport

/// A backend in virtual time.
protocol VirtualBackend: MediaBackend {
    var time: VirtualTimeline { get }
}

extension VirtualBackend {
    func clockTime() -> MediaTime { MediaTime(time.now) }
}

/// A backend without C dependencies, whose converters record their calls.
struct TestBackend: VirtualBackend {
    struct NoDecoder: Error {}
    let defaultScript = SourceScript()
    let conversions = Conversions()
    let decoders = ScriptedDecoders()
    let encoders = ScriptedEncoders()

    let time = VirtualTimeline()

    func makeDefaultSource() throws -> sending any VideoSource { ScriptedSource(defaultScript) }

    func makeConverter() -> any VideoConverter { conversions }

    func makeDecoder(
        _ codec: VideoCodec, to consumer: any VideoFrameConsumer
    ) throws -> any VideoDecoder {
        guard !decoders.areMissing else { throw NoDecoder() }
        return decoders.make(codec, to: consumer)
    }

    var encodableCodecs: [VideoCodec] { [.h264] }

    func makeEncoder(
        _ settings: VideoEncoderSettings, to consumer: any VideoFrameConsumer
    ) throws -> any VideoEncoder {
        try encoders.make(settings, to: consumer)
    }

    /// Records every conversion, and marks the frame instead of converting it.
    final class Conversions: VideoConverter {
        private let requested = Mutex<[VideoConversion]>([])
        private let reason = Mutex<Refusal?>(nil)
        /// The error that every conversion throws.
        var failure: Refusal? {
            get { reason.withLock { $0 } }
            set { reason.withLock { $0 = newValue } }
        }
        private let block = Mutex<Hang?>(nil)
        /// The next conversion blocks until the result is signalled.
        func hang() -> Hang {
            let hang = Hang()
            block.withLock { $0 = hang }
            return hang
        }
        var all: [VideoConversion] { requested.withLock { $0 } }

        func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame {
            requested.withLock { $0.append(target) }
            block.withLock { $0.take() }?.wait()
            if let failure { throw failure }
            var frame = frame
            frame.metadata["converted"] = target.pixelFormat?.rawValue ?? "geometry"
            return frame
        }
    }
}

/// A transport without a channel, for engines that join none.
struct NoTransport: ChannelTransport {
    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        throw EngineError(.disconnected, message: "there is no channel")
    }
}

struct Refusal: Error, Equatable {
    let reason: String
}
