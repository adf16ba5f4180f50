internal import Synchronization

/// Frames through GStreamer's own converters, on the caller's thread.
///
/// A chain of them is kept for each of the last few kinds of picture and conversion, so that a stream of
/// changing pictures, or several receivers, cost no new chain for every frame. Thread: any, one frame at
/// a time for each chain (others wait).
final class FrameConverter: VideoConverter {
    private struct Entry: Sendable {
        /// Held, so that no other caps have its identity.
        var caps: Caps
        let conversion: VideoConversion
        let chain: ConverterChain
    }
    /// The one used last is the last.
    private let entries = Mutex<[Entry]>([])
    private let wrapper = BufferWrapper()
    /// Chains that are kept at most.
    static let capacity = 8

    func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame {
        guard target.changes(frame.format) else { return frame }
        let wrapped = try wrapper.wrap(frame)
        let caps = wrapped.caps
        let chain = try known(caps, target) ?? add(caps, target, frame.format)
        return try chain.convert(frame, wrapped)
    }

    var chains: Int { entries.withLock { $0.count } }

    private func known(_ caps: Caps, _ conversion: VideoConversion) -> ConverterChain? {
        entries.withLock { entries in
            // Identity is the cheap question; caps of two streams may say the same.
            let place =
                entries.lastIndex {
                    $0.caps.identity == caps.identity && $0.conversion == conversion
                }
                ?? entries.lastIndex { $0.conversion == conversion && $0.caps.isEqual(to: caps) }
            guard let place else { return nil }
            var entry = entries.remove(at: place)
            entry.caps = caps
            entries.append(entry)
            return entry.chain
        }
    }

    private func add(
        _ caps: Caps, _ conversion: VideoConversion, _ format: VideoFormat
    ) throws -> ConverterChain {
        let entry = Entry(
            caps: caps, conversion: conversion,
            chain: try ConverterChain(for: caps, format, conversion))
        // What gives way is let go of outside of the lock.
        _ = entries.withLock { entries in
            entries.append(entry)
            return entries.count > Self.capacity ? entries.removeFirst() : nil
        }
        return entry.chain
    }
}
