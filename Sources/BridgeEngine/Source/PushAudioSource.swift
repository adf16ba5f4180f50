internal import MediaCore
internal import Synchronization

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
        guard let consumer else { return refuse(.notStarted) }
        guard !bytes.isEmpty, bytes.count.isMultiple(of: format.sampleStride) else {
            return refuse(.badSize)
        }
        guard let storage = try? MemoryAudioStorage(copying: bytes, format: format) else {
            return refuse(.failed)
        }
        return consumer.consume(AudioFrame(storage, runningTime: time))
    }

    func push(_ frame: AudioFrame) -> FrameDisposition {
        guard let consumer else { return refuse(.notStarted) }
        guard frame.format == format else { return refuse(.badFormat) }
        return consumer.consume(frame)
    }

    func refuse(_ cause: DropCause) -> FrameDisposition {
        refused.note(cause)
        return .dropped(cause)
    }

    // MARK: AudioSource

    var consumer: (any AudioFrameConsumer)? {
        get { target.withLock { $0 } }
        set { target.withLock { $0 = newValue } }
    }

    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() { consumer = nil }
}

/// Holds the source to which the program pushes, so that a push need not wait for the engine.
final class AudioPushSource: Sendable {
    private let present = Mutex<PushAudioSource?>(nil)
    let refused = DropMeter()

    var source: PushAudioSource? {
        get { present.withLock { $0 } }
        set { present.withLock { $0 = newValue } }
    }
}
