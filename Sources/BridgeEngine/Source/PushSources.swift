internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// A video source whose frames the program pushes.
///
/// Thread: any for pushing, one push at a time.
final class PushVideoSource: VideoSource, Sendable {
    /// The kind of frame that may be pushed.
    enum Kind: Sendable {
        case pixelBuffers, bytes, encoded
    }
    private let target = Mutex<(any VideoFrameConsumer)?>(nil)
    private let kind: Kind
    private let clock: EngineClock
    private let refused: DropMeter

    /// - Parameter refused: Counts the pushes that do not reach the consumer.
    init(_ kind: Kind, clock: EngineClock, refused: DropMeter) {
        self.refused = refused
        self.kind = kind
        self.clock = clock
    }

    // MARK: Pushing

    func push(_ frame: ExternalVideoFrame) -> FrameDisposition {
        guard let consumer else { return refused.refuse(.notStarted) }
        switch kind {
        case .bytes where frame.format != .pixelBuffer: break
        case .pixelBuffers where frame.format == .pixelBuffer: break
        default: return refused.refuse(.wrongBufferType)
        }
        do throws(RawPicture.Refusal) {
            return consumer.consume(try frame.made(now: clock.now))
        } catch { return refused.refuse(error.cause) }
    }

    func push(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard kind == .encoded else { return refused.refuse(.wrongBufferType) }
        guard unit.byteCount > 0 else { return refused.refuse(.badSize) }
        guard let consumer else { return refused.refuse(.notStarted) }
        var unit = unit
        if unit.runningTime == nil { unit.runningTime = clock.now }
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

/// Holds the sources to which the program pushes, by track (``TrackID/main`` for audio), so that a
/// push need not wait for the engine.
final class PushTable<Source: AnyObject & Sendable>: Sendable {
    private let sources = Mutex<[TrackID: Source]>([:])
    let refused = DropMeter()

    subscript(track: TrackID) -> Source? {
        get { sources.withLock { $0[track] } }
        set {
            // The previous source is released outside the lock, with its consumer.
            _ = sources.withLock { sources in
                defer { sources[track] = newValue }
                return sources[track]
            }
        }
    }
}

// MARK: Audio

/// An audio source whose frames the program pushes. Thread: any for pushing, one push at a time.
final class PushAudioSource: AudioSource, Sendable {
    private let target = Mutex<(any AudioFrameConsumer)?>(nil)
    let format: AudioFormat
    private let refused: DropMeter

    /// - Parameter refused: Counts the pushes that do not reach the consumer.
    init(_ format: AudioFormat, refused: DropMeter) {
        self.format = format
        self.refused = refused
    }

    func push(_ bytes: UnsafeRawBufferPointer, time: MediaTime?) -> FrameDisposition {
        guard let consumer else { return refused.refuse(.notStarted) }
        guard !bytes.isEmpty, bytes.count.isMultiple(of: format.sampleStride) else {
            return refused.refuse(.badSize)
        }
        guard let storage = try? MemoryAudioStorage(copying: bytes, format: format) else {
            return refused.refuse(.failed)
        }
        return consumer.consume(AudioFrame(storage, runningTime: time))
    }

    func push(_ frame: AudioFrame) -> FrameDisposition {
        guard let consumer else { return refused.refuse(.notStarted) }
        guard frame.format == format else { return refused.refuse(.badFormat) }
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
