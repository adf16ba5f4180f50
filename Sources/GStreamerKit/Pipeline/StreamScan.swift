internal import CMediaBridge
internal import Synchronization

/// Corrections for reading fragmented MPEG-4 with `qtdemux` 1.22, which applies an edit list to a
/// whole track although it was written for the first fragment only.
///
/// If possible, such a file is pushed through `valve`, which cannot pull. A demuxer that pulls searches all
/// samples before each fragment: the time to read a file is then the square of its length.
package struct FragmentReading: Hashable, Sendable {
    /// Bytes that hide the edit lists, by offset in the file.
    package var patches: [Int: [UInt8]]
    /// The effect of the hidden edit lists: nanoseconds by which a track starts later, by the name
    /// of the demuxer's pad.
    package var delays: [String: Int64]
    /// Whether each fragment's media follows its `moof` box, so that the file may be read from the beginning
    /// to the end.
    package var isSequential: Bool

    /// Returns the elements that deliver a file to its demuxer.
    ///
    /// - Parameter name: The name of the file source.
    package static func source(_ name: String, _ fragments: FragmentReading?) -> String {
        fragments?.isSequential == true
            ? "filesrc name=\(name) blocksize=65536 ! valve" : "filesrc name=\(name)"
    }

    /// Creates the corrections from their parts.
    package init(patches: [Int: [UInt8]], delays: [String: Int64], isSequential: Bool) {
        self.isSequential = isSequential
        self.patches = patches
        self.delays = delays
    }
}

/// Reads all streams of a file to the end without decoding, and records the running time of each
/// unit.
///
/// Each scan can be run once. Thread: any but a streaming thread.
package final class StreamScan: Sendable {
    /// One stream that the demuxer found.
    package struct Stream: Sendable {
        /// The name of the demuxer's pad, for example `video_0`.
        package let pad: String
        /// The media type, for example `video/x-h264`.
        package let mediaType: String
        /// The running time of each unit in nanoseconds, in file order; `nil` for a unit without one. In
        /// Matroska, the time that the file states.
        package fileprivate(set) var times: [Int64?] = []
        /// The indexes of the units that are key frames.
        package fileprivate(set) var keys: [Int] = []
        /// Size of all units, in bytes.
        package fileprivate(set) var bytes = 0
        /// The format of the units, at the end of the scan; `nil` if none came.
        package fileprivate(set) var caps: Caps?
        fileprivate let sink: Pad?
    }

    private let pipeline: Pipeline
    private let tally: UnitCollector
    private let announced = Mutex<ClockTime?>(nil)

    /// Prepares a scan of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The file to read.
    ///   - demuxer: Factory name of the demuxer.
    ///   - parsers: Factory names of parsers by ``Caps/parserKey``, for containers that do not keep units
    ///     whole: transport streams.
    ///   - fragments: Corrections for fragmented MPEG-4; `nil` for any other file.
    ///   - limit: Number of buffers per stream, headers included, after which the scan ends; `nil`
    ///     to read to the end of the file.
    /// - Throws: ``PipelineError`` if an element is missing.
    package init(
        of path: String, demuxer: String, parsers: [String: String] = [:],
        fragments: FragmentReading? = nil, buffersOfEach limit: Int? = nil
    ) throws(PipelineError) {
        let pipeline = try Pipeline(
            parsing: "\(FragmentReading.source("file", fragments)) ! \(demuxer) name=streams")
        pipeline.element(named: "file")?.set(literally: "location", path)
        if let fragments {
            pipeline.element(named: "file")?.pad("src")?.overwrite(fragments.patches)
        }
        let tally = UnitCollector(
            parsers: parsers, fragments: fragments, limit: limit,
            ignoresUntimed: demuxer == "flacparse")
        self.pipeline = pipeline
        self.tally = tally
        let streams = pipeline.element(named: "streams")
        streams?.onSourcePad { pad in
            if demuxer == "matroskademux" { pad.keepTimestamps() }
            tally.appeared(pad)
        }
        // A parser has its pad from the beginning.
        streams?.sourcePads.forEach { tally.appeared($0) }
    }

    /// The streams found so far, in the order in which the demuxer found them.
    package var streams: [Stream] { tally.streams.withLock { $0 } }

    /// Number of units read so far, in all streams.
    package var units: Int { tally.streams.withLock { $0.reduce(0) { $0 + $1.times.count } } }

    /// The duration that the file states; `nil` if it states none, or before ``run()`` returned.
    package var duration: ClockTime? { announced.withLock { $0 } }

    /// Reads to the end. Cancelling the task ends the scan early.
    ///
    /// - Returns: The streams, in the order in which the demuxer found them.
    /// - Throws: ``PipelineError``: the first error that GStreamer reported about the file.
    package func run() async throws(PipelineError) -> [Stream] {
        try await pipeline.runToEnd { pipeline in
            announced.withLock { $0 = pipeline.queryDuration() }
            tally.noteFormats()
        }
        return streams
    }

    /// Collects the units on the streaming threads.
    private final class UnitCollector: Sendable {
        let streams = Mutex<[Stream]>([])
        private let parsers: [String: String]

        private let fragments: FragmentReading?
        private let limit: Int?
        /// Whether units without a time are headers.
        private let ignoresUntimed: Bool

        init(
            parsers: [String: String], fragments: FragmentReading?, limit: Int?,
            ignoresUntimed: Bool
        ) {
            self.limit = limit
            self.ignoresUntimed = ignoresUntimed
            self.parsers = parsers
            self.fragments = fragments
        }

        /// Notes the formats of the streams, which the pads forget at NULL.
        func noteFormats() {
            streams.withLock { streams in
                for index in streams.indices { streams[index].caps = streams[index].sink?.caps }
            }
        }

        /// Runs on a streaming thread.
        func appeared(_ pad: Pad) {
            let caps = pad.currentOrPossibleCaps
            let mediaType = caps?.mediaType ?? ""
            let parser = caps.flatMap { parsers[$0.parserKey] }.map { "\($0) ! " } ?? ""
            var error: UnsafeMutablePointer<GError>?
            guard
                let end = gst_parse_bin_from_description(
                    "\(parser)fakesink name=end sync=false async=false "
                        + "num-buffers=\(limit ?? -1)", 1, &error)
            else {
                if let error { g_error_free(error) }
                return
            }
            let sink = gst_bin_get_by_name(end.cast(), "end").map { Element(adopting: $0) }
            let index = streams.withLock { streams in
                streams.append(
                    Stream(pad: pad.name, mediaType: mediaType, sink: sink?.pad("sink")))
                return streams.count - 1
            }
            sink?.pad("sink")?.onRunningTime { [weak self, ignoresUntimed] time, bytes, isKey in
                if time == nil, ignoresUntimed { return }
                self?.streams.withLock { streams in
                    if isKey { streams[index].keys.append(streams[index].times.count) }
                    streams[index].times.append(time)
                    streams[index].bytes += bytes
                }
            }
            guard let demuxer = pad.element,
                let holder = gst_object_get_parent(demuxer.pointer.cast())
            else { return }
            defer { gst_object_unref(holder) }
            gst_bin_add(holder.cast(), end.cast())
            if let fragments { pad.correct(fragments) }
            let entry = Element(retaining: end.cast()).pad("sink")
            guard let entry, pad.link(to: entry) else {
                // A sink that gets no data would keep the pipeline from ending.
                gst_bin_remove(holder.cast(), end.cast())
                return
            }
            gst_element_sync_state_with_parent(end.cast())
        }
    }
}

extension Pad {
    /// Corrects what passes a demuxer's pad. Call it before data flows.
    package func correct(_ fragments: FragmentReading) {
        keepFirstFormat()
        if currentOrPossibleCaps?.isSound == true { keepApart() }
        delay(by: fragments.delays[name] ?? 0)
    }
}

extension Pipeline {
    /// Plays to the end, then goes to NULL. Cancelling the task ends it early, with
    /// ``PipelineError/Code/interrupted``.
    ///
    /// - Parameter atEnd: Called at the end, before the pipeline goes to NULL.
    /// - Throws: ``PipelineError``: the first error that is posted.
    package func runToEnd(
        atEnd: (Pipeline) -> Void = { _ in }
    ) async throws(PipelineError) {
        let messages = self.messages
        var failure: PipelineError?
        do throws(PipelineError) {
            try await setState(.playing)
            reading: for await message in messages {
                switch message {
                case .endOfStream:
                    atEnd(self)
                    break reading
                case .error(let error): throw error
                default: break
                }
            }
            if !hasEnded {
                failure = PipelineError(.interrupted, message: "the file was not read to its end")
            }
        } catch { failure = error }
        do throws(PipelineError) { try await setState(.null) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }
}
