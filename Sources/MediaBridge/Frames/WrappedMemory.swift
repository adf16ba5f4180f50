internal import MediaBasics
internal import Synchronization

/// Holds memory that a GstBuffer wraps, and releases it when no pipeline reads it any more.
///
/// GStreamer releases buffers while it holds its own locks (an appsrc that drops its oldest, a
/// queue that is flushed), and on its streaming threads. The program's release callback would run
/// under these locks, so the program's memory is released on a separate queue. Thread: any.
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

    /// Releases the memory when the buffer is gone. The caller retains this object, not the memory.
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

    /// Returns when all memory that was given back before has been released to the program, or
    /// after one second.
    static func settle() async {
        let latch = Latch()
        queue.async { latch.open() }
        _ = await latch.wait(for: .seconds(1).asDefaultDeadline)
    }
}

extension FrameError {
    /// A frame whose buffer is smaller than its format needs.
    init(tooFewBytes count: Int, of format: String) {
        self.init(
            .notMappable,
            "\(format) does not fit into the \(count) bytes of its frame: an element of the "
                + "capture, such as capssetter, sets caps that do not match the data")
    }
}
