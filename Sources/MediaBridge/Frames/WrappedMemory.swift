internal import MediaBasics
internal import Synchronization

/// Holds memory that a GstBuffer wraps, and gives it back when no pipeline reads it any more.
///
/// GStreamer lets go of buffers under locks of its own (an appsrc that drops its oldest, a queue that is
/// flushed) and on its streaming threads: what the program does at the end of its memory would find them
/// locked. So the program's memory goes back on a thread of its own. Thread: any.
final class WrappedMemory: Sendable {
    private static let queue = SerialQueue(label: "mediabridge.release")
    private let storage: Mutex<(any AnyObject & Sendable)?>
    private let isOfProgram: Bool

    init(_ storage: MemoryFrameStorage) {
        self.storage = Mutex(storage)
        isOfProgram = storage.isOfProgram
    }

    init(_ storage: MemoryAudioStorage) {
        self.storage = Mutex(storage)
        isOfProgram = storage.isOfProgram
    }

    /// The buffer is gone. Whoever calls holds this, and not the memory.
    func giveBack() {
        if isOfProgram {
            Self.queue.async { self.letGo() }
        } else {
            letGo()
        }
    }

    private func letGo() {
        _ = storage.withLock { storage in
            defer { storage = nil }
            return storage
        }
    }

    /// Returns when what was given back before is with the program, or after a second.
    static func settle() async {
        let latch = Latch()
        queue.async { latch.open() }
        _ = await latch.wait(for: .seconds(1).asDefaultDeadline)
    }
}
