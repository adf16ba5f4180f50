internal import CMediaBridge
internal import MediaBasics
internal import Synchronization

/// Reads the encoded frames of a file, without decoding, from a key frame on.
///
/// Each reader can be run once. Thread: any but a streaming thread.
package final class StreamReader: Sendable {
    /// A stream that is read.
    package struct Stream: Sendable {
        /// The name of the demuxer's pad, for example `video_0`.
        package let pad: String
        /// The elements that bring the units into the form to be read, each before an exclamation
        /// mark; empty for none.
        package let elements: String

        package init(pad: String, elements: String) {
            self.pad = pad
            self.elements = elements
        }
    }

    /// A unit, with its times in the file in nanoseconds; `nil` for a time that it does not have.
    package final class Unit: Sendable {
        package let buffer: Buffer
        package let caps: Caps
        package let presented, decoded: Int64?

        fileprivate init?(_ sample: consuming Sample, isSought: Bool) {
            guard let caps = sample.caps else { return nil }
            self.caps = caps
            presented = sample.time(isSought) { $0.pts }
            decoded = sample.time(isSought) { $0.dts }
            guard let buffer = sample.takeBuffer() else { return nil }
            self.buffer = buffer
        }
    }

    private let pipeline: Pipeline
    private let sinks: [AppSink]
    private let pads: [String]
    private let isMatroska: Bool

    /// How long the demuxer may take to find the first unit.
    private static let waitLimit = Duration.seconds(10).asDefaultDeadline

    /// Prepares to read the file at `path`.
    ///
    /// - Parameter fragments: Corrections for fragmented MPEG-4; `nil` for any other file.
    /// - Throws: ``PipelineError`` if an element is missing.
    package init(
        of path: String, demuxer: String, streams: [Stream], fragments: FragmentReading? = nil
    ) throws(PipelineError) {
        var text = "\(FragmentReading.source("file", fragments)) ! \(demuxer) name=streams"
        for (index, stream) in streams.enumerated() {
            let elements = stream.elements.replacing(
                "name=\(Pad.adtsWriter) ", with: "name=\(Pad.adtsWriter)-\(index) ")
            text += " streams.\(stream.pad) ! \(elements)appsink name=units-\(index)"
        }
        let pipeline = try Pipeline(parsing: text)
        pipeline.element(named: "file")?.set(literally: "location", path)
        if let fragments {
            pipeline.element(named: "file")?.pad("src")?.overwrite(fragments.patches)
            pipeline.element(named: "streams")?.onSourcePad { $0.correct(fragments) }
        }
        for index in streams.indices {
            pipeline.element(named: "\(Pad.adtsWriter)-\(index)")?.pad("sink")?
                .describeAACChannels()
        }
        let appSinks = pipeline.appSinks
        sinks = streams.indices.compactMap { appSinks["units-\($0)"] }
        self.pipeline = pipeline
        pads = streams.map(\.pad)
        isMatroska = demuxer == "matroskademux"
        if isMatroska { pipeline.element(named: "streams")?.onSourcePad { $0.keepTimestamps() } }
    }

    /// Reads to the end, or until `take` wants no more of any stream. Cancelling the task ends it
    /// early.
    ///
    /// - Parameters:
    ///   - start: Reading begins with a key frame at or before this time, as the file's index says;
    ///     `nil` for the beginning.
    ///   - firstPicture: The raw pictures before this time in nanoseconds are dropped at the element named
    ///     `cut`; `nil` for none.
    ///   - onTags: Gets the number of a stream and its tags, before the units that they are about.
    ///   - take: Gets the number of the stream and each unit, on one streaming thread; returns
    ///     whether it wants more of the stream. It may wait.
    /// - Throws: ``PipelineError``: the first error that GStreamer reported about the file.
    package func run(
        from start: ClockTime?, firstPicture: Int64? = nil,
        onTags: @escaping @Sendable (Int, Tags) -> Void,
        _ take: @escaping @Sendable (Int, Unit) -> Bool
    ) async throws(PipelineError) {
        let isSought = start != nil
        if let firstPicture {
            pipeline.element(named: "cut")?.pad("src")?
                .dropBuffers(before: firstPicture, isFileTime: isSought)
        }
        for (index, sink) in sinks.enumerated() {
            sink.configure(depth: 1, isPaced: false)
            sink.element.pad("sink")?.onTags { onTags(index, $0) }
            sink.setHandlers(
                onSample: { [weak sink] in
                    guard let sample = sink?.tryPull(),
                        let unit = Unit(sample, isSought: isSought)
                    else { return true }
                    return take(index, unit)
                }, onEnd: {})
        }
        defer { sinks.forEach { $0.removeHandlers() } }
        if let start { try await seek(to: start) }
        try await pipeline.runToEnd()
    }

    /// The demuxer stops at its first unit, which the seek discards.
    private func seek(to time: ClockTime) async throws(PipelineError) {
        let begun = Latch()
        let pads = sinks.compactMap { $0.element.pad("sink") }
        // A track that begins later begins with a gap, at which a sink waits for the playback.
        let probes = pads.flatMap { pad in
            [pad.block { begun.open() }, pad.onGap { begun.open() }]
        }
        defer { probes.forEach { $0.remove() } }
        pipeline.onFirstError { _ in begun.open() }
        try await pipeline.setState(.paused)
        _ = await begun.wait(for: Self.waitLimit)
        if let failure = pipeline.failure { throw failure }
        var target = Int64(clamping: time.nanoseconds)
        // matroskademux seeks to a time that counts from the first block. The pad still has the event of its
        // own segment.
        let demuxer = pipeline.element(named: "streams")
        if isMatroska,
            let segment = self.pads.compactMap({ demuxer?.pad($0)?.pointer.segment }).first
        {
            target -= Int64(segment.start) - Int64(segment.time)
        }
        // A file that cannot be sought is read from its beginning.
        _ = await pipeline.seek(toKeyFrameAt: ClockTime(nanoseconds: UInt64(max(0, target))))
    }
}

extension Pipeline {
    /// Continues with the key frame at or before a time.
    ///
    /// - Returns: False if the elements cannot do it.
    package func seek(toKeyFrameAt time: ClockTime) async -> Bool {
        let flags =
            GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue
            | GST_SEEK_FLAG_SNAP_BEFORE.rawValue
        return await control.run(within: Self.stateDeadline) { [handle] in
            gst_element_seek_simple(
                handle.pointer.cast(), GST_FORMAT_TIME, GstSeekFlags(rawValue: flags),
                gint64(clamping: time.nanoseconds)) != 0
        } ?? false
    }
}
