internal import BridgeEngine
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// A video source whose frames the program pushes.
///
/// Thread: any for pushing, one push at a time.
final class PushVideoSource: VideoSource, Sendable {
    private let target = Mutex<(any VideoFrameConsumer)?>(nil)
    private let kind: PushKind

    init(_ kind: PushKind) { self.kind = kind }

    // MARK: Pushing

    /// - Parameter now: The running time for a frame without a time.
    func push(_ frame: ExternalVideoFrame, now: MediaTime) -> FrameDisposition {
        guard let consumer else { return .dropped(.notStarted) }
        switch kind {
        case .bytes where frame.format != .pixelBuffer: break
        case .pixelBuffers where frame.format == .pixelBuffer: break
        default: return .dropped(.wrongBufferType)
        }
        do throws(RawPicture.Refusal) {
            return consumer.consume(try frame.made(now: now))
        } catch { return .dropped(error.cause) }
    }

    func push(_ unit: EncodedVideoFrame, now: MediaTime) -> FrameDisposition {
        guard kind == .encoded else { return .dropped(.wrongBufferType) }
        guard unit.byteCount > 0 else { return .dropped(.badSize) }
        guard let consumer else { return .dropped(.notStarted) }
        var unit = unit
        if unit.runningTime == nil { unit.runningTime = now }
        return consumer.consume(unit)
    }

    // MARK: VideoSource

    var consumer: (any VideoFrameConsumer)? {
        get { target.withLock { $0 } }
        // The previous consumer is released outside the lock.
        set { _ = target.exchange(newValue) }
    }

    func bufferType() -> VideoBufferType { .pixelBuffer }
    func shouldInitialize() -> Bool { true }

    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() { consumer = nil }
}

/// An audio source whose frames the program pushes. Thread: any for pushing, one push at a time.
final class PushAudioSource: AudioSource, Sendable {
    private let target = Mutex<(any AudioFrameConsumer)?>(nil)
    private let format: AudioFormat

    init(_ format: AudioFormat) { self.format = format }

    func push(_ frame: AudioFrame) -> FrameDisposition {
        guard let consumer else { return .dropped(.notStarted) }
        guard frame.format == format else { return .dropped(.badFormat) }
        return consumer.consume(frame)
    }

    // MARK: AudioSource

    var consumer: (any AudioFrameConsumer)? {
        get { target.withLock { $0 } }
        // The previous consumer is released outside the lock.
        set { _ = target.exchange(newValue) }
    }

    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() { consumer = nil }
}
