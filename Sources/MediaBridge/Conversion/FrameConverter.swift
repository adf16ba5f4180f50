internal import Synchronization

/// Converts frames with GStreamer's own converters, on the caller's thread.
///
/// It keeps one chain for each of the last few pairs of caps and conversion, so that a stream that
/// alternates between formats, or several receivers, need no new chain for every frame. Thread:
/// any. Each chain converts one frame at a time; other callers wait.
final class FrameConverter: VideoConverter {
    private struct Entry: Sendable {
        /// Kept alive, so that no other caps object can have the same identity (address).
        var caps: Caps
        let conversion: VideoConversion
        let chain: ConverterChain
    }
    /// In order of use, the most recently used last.
    private let entries = Mutex<[Entry]>([])
    /// Maximum number of chains kept.
    static let capacity = 8

    func convert(_ frame: VideoFrame, to target: VideoConversion) throws -> VideoFrame {
        guard target.changes(frame.format) else { return frame }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        let chain = try known(caps, target) ?? add(caps, target, frame.format)
        return try chain.convert(frame, wrapped)
    }

    var chains: Int { entries.withLock { $0.count } }

    private func known(_ caps: Caps, _ conversion: VideoConversion) -> ConverterChain? {
        entries.withLock { entries in
            // Comparing identities is cheap, so it comes first; two streams may have equal but
            // distinct caps.
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
        // The evicted chain is released outside of the lock.
        _ = entries.withLock { entries in
            entries.append(entry)
            return entries.count > Self.capacity ? entries.removeFirst() : nil
        }
        return entry.chain
    }
}
