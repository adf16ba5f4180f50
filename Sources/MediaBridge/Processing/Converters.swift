internal import MediaBasics
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

/// GStreamer's own converters, set up for one input format and one conversion.
///
/// Thread: any, one frame at a time (others wait).
private final class ConverterChain: Sendable {
    private let chain: ElementChain
    /// The layout that the most recent output caps describe.
    private let layout = Mutex<FrameLayout?>(nil)

    /// - Throws: ``PipelineError`` for a pixel format that GStreamer does not know, and if an
    ///   element is missing.
    init(for caps: Caps, _ format: VideoFormat, _ conversion: VideoConversion) throws {
        let elements = try conversion.elements(for: caps, format)
        chain = try ElementChain(
            elements.joined(separator: " ! "), to: try conversion.caps(for: format))
    }

    func convert(_ frame: VideoFrame, _ wrapped: borrowing ElementChain.BufferWithCaps) throws
        -> VideoFrame
    {
        let output = try chain.process(wrapped.buffer.retained(), caps: wrapped.caps)
        let layout = try layout(of: output.caps)
        return frame.replacingPixels(BufferFrameStorage(output.buffer.retained(), layout))
    }

    private func layout(of caps: Caps) throws(PipelineError) -> FrameLayout {
        try layout.withLock { layout throws(PipelineError) -> FrameLayout in
            if let layout, layout.info.caps.identity == caps.identity { return layout }
            guard let info = VideoInfo(caps) else {
                throw PipelineError(
                    .streamFailed, message: "a converter produced \(caps) instead of raw video")
            }
            let made = FrameLayout(info)
            layout = made
            return made
        }
    }
}

extension VideoConversion {
    /// Returns the elements that carry out the conversion. It adds no more than are needed: two
    /// converters in a row take ten milliseconds to link, which interrupts a running stream
    /// noticeably when a receiver joins it.
    fileprivate func elements(
        for caps: Caps, _ format: VideoFormat
    ) throws(PipelineError) -> [String] {
        var elements: [String] = []
        func add(_ name: String, _ settings: String) throws(PipelineError) {
            let takesInput = try ElementFactory.find(name)?.canTake(caps) ?? false
            if elements.isEmpty, !takesInput { elements.append("videoconvert") }
            elements.append("\(name) \(settings)")
        }
        if let direction { try add("videoflip", "video-direction=\(direction)") }
        if let crop = crop(of: format) {
            try add(
                "videocrop",
                "left=\(crop.left) right=\(crop.right) top=\(crop.top) bottom=\(crop.bottom)")
        }
        if size != nil { try add("videoscale", "add-borders=true") }
        return elements + ["videoconvert"]
    }

    /// The margins to crop so that the picture fills a size of another aspect ratio; `nil` if no
    /// cropping is needed.
    private func crop(of format: VideoFormat) -> VideoCrop? {
        guard let size, fillsSize, size.isValid else { return nil }
        let swapsSides = rotation == .rotation90 || rotation == .rotation270
        let (width, height) =
            swapsSides ? (format.height, format.width) : (format.width, format.height)
        let ratio = format.pixelAspectRatio.value
        let pixel = ratio > 0 ? (swapsSides ? 1 / ratio : ratio) : 1
        let wanted = Double(size.width) / Double(size.height) / pixel
        let kept = VideoSize(
            width: min(width, max(1, Int((Double(height) * wanted).rounded()))),
            height: min(height, max(1, Int((Double(width) / wanted).rounded()))))
        let (x, y) = (width - kept.width, height - kept.height)
        return x + y == 0
            ? nil : VideoCrop(left: x / 2, top: y / 2, right: x - x / 2, bottom: y - y / 2)
    }

    /// The value of `videoflip`'s `video-direction` for the rotation followed by the mirror; `nil`
    /// if there is no rotation and no mirror.
    private var direction: String? {
        switch (rotation, isMirrored) {
        case (.upright, false): nil
        case (.rotation90, false): "90r"
        case (.rotation180, false): "180"
        case (.rotation270, false): "90l"
        case (.upright, true): "horiz"
        case (.rotation90, true): "ul-lr"
        case (.rotation180, true): "vert"
        case (.rotation270, true): "ur-ll"
        }
    }

    /// The caps of the output.
    fileprivate func caps(for format: VideoFormat) throws -> Caps {
        var wanted = pixelFormat ?? .any
        if wanted == .any { wanted = format.pixelFormat }
        // The name becomes part of a caps string, so it must be a format that GStreamer knows.
        let name = try VideoInfo(format: wanted.rawValue, width: 16, height: 16).format
        guard let size else { return try Caps("video/x-raw, format=\(name)") }
        guard size.isValid else {
            throw FrameError(.badFormat, "\(size) is not a valid frame size")
        }
        return try Caps(
            "video/x-raw, format=\(name), width=\(size.width), height=\(size.height), "
                + "pixel-aspect-ratio=1/1")
    }
}

// MARK: Audio

/// Converts audio with GStreamer's own `audioconvert` and `audioresample`, on the caller's thread.
///
/// One converter is for one stream: the resampler keeps state from buffer to buffer. If the
/// stream's format changes, a new chain is made. Thread: any, one frame at a time (others wait).
final class SoundConverter: AudioConverter {
    private struct Chain: Sendable {
        let from: AudioFormat
        let to: AudioFormat
        let elements: ElementChain
        let layout: AudioFrameLayout
    }
    private let chain = Mutex<Chain?>(nil)

    func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame? {
        let wanted = target.applied(to: frame.format)
        guard wanted != frame.format else { return frame }
        let wrapped = try frame.wrapped()
        let caps = wrapped.caps
        var buffer = wrapped.buffer.retained().withOwnHeader()
        // The frame's running time becomes the buffer's time, so that the output gets running times
        // too.
        buffer.presentationTime = frame.runningTime.flatMap { ClockTime($0) }
        buffer.duration = nil
        let chain = try self.chain(from: frame.format, to: wanted)
        guard let output = try chain.elements.processIfAny(buffer, caps: caps) else { return nil }
        var result = frame.replacingSamples(
            BufferAudioStorage(output.buffer.retained(), chain.layout))
        if let time = output.buffer.presentationTime, frame.runningTime != nil {
            result.runningTime = MediaTime(time)
        }
        return result.sampleCount > 0 ? result : nil
    }

    private func chain(
        from: AudioFormat, to: AudioFormat
    ) throws(PipelineError) -> Chain {
        if let chain = chain.withLock({ $0 }), chain.from == from, chain.to == to { return chain }
        let layout = try AudioFrameLayout.of(to)
        let fresh = Chain(
            from: from, to: to,
            elements: try ElementChain("audioconvert ! audioresample", to: layout.caps),
            layout: layout)
        // The replaced chain is released outside of the lock.
        _ = chain.exchange(fresh)
        return fresh
    }
}
