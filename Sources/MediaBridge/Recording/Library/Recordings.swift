internal import CMediaBridge
public import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// The recordings in directories, ordered by the time of their capture.
///
/// ```swift
/// let recordings = try await Recordings(of: ["recordings"])
/// for file in recordings.files { print(file.path, file.began, file.duration) }
/// ```
///
/// Only headers and indexes are read; nothing is decoded. Thread: any but a streaming thread.
public struct Recordings: Sendable {
    /// One recording.
    public struct File: Sendable {
        /// Whether a file is complete.
        public enum State: String, Sendable {
            /// The muxer completed it.
            case finished
            /// Its process died, or the file was truncated. It plays; ``Recordings/repair(_:to:stallTimeout:)`` restores its
            /// index.
            case interrupted
            /// A recorder is writing it.
            case recording
            /// Transport streams do not show whether they are complete.
            case unknown
        }
        /// One stream.
        public struct Stream: Sendable, CustomStringConvertible {
            /// `video`, `audio` or another kind.
            public var kind: String
            /// The codec, for example `h264`; GStreamer's media type for an unknown one.
            public var codec: String
            /// Size of the pictures; `nil` for other streams.
            public var size: VideoSize?
            /// Audio samples per second.
            public var sampleRate: Int?
            /// Number of audio channels.
            public var channels: Int?
            /// For example `h264 1280x720` or `opus 48000 Hz 2ch`.
            public var description: String {
                codec + (size.map { " \($0.width)x\($0.height)" } ?? "")
                    + (sampleRate.map { " \($0) Hz" } ?? "")
                    + (channels.map { " \($0)ch" } ?? "")
            }
        }
        /// The file's path.
        public var path: String
        /// The container, determined by the content.
        public var container: RecordingContainer
        /// When its first frame was captured. Matroska and WebM state it in nanoseconds, MPEG-4 in
        /// seconds.
        public var began: Date
        /// Whether the file does not state ``began``, as transport streams never do: it is then the time of
        /// the file's last change minus its duration.
        public var isEstimated: Bool
        /// Media time from the first frame to the end of the last.
        public var duration: Duration
        /// Size in bytes.
        public var bytes: Int
        /// Whether it is complete.
        public var state: State
        /// Its streams.
        public var streams: [Stream]
        /// The time without a recording before it; `nil` if there is none.
        public var gapBefore: Duration?

        /// How to read it.
        let recorded: RecordedContainer
        /// The names of the demuxer's pads, GStreamer's media types, and the times of the first units in the
        /// file, in nanoseconds, in the order of ``streams``.
        let pads: [(name: String, mediaType: String, start: Int64)]
        /// The time of the first unit in the file, in nanoseconds.
        let start: Int64
        /// ``began`` in nanoseconds since 1970.
        var date: Int64
        var length: Int64 { MediaTime(duration).nanoseconds }
        var end: Int64 { date + length }
        /// Whether the file contains frames that are not shown, before the first one that is.
        let hasHiddenFrames: Bool
        /// Whether reading may begin anywhere: transport streams and interrupted files have no index,
        /// qtdemux reads fragments from the first on, and hidden frames have no time in the file.
        var isIndexed: Bool {
            !hasHiddenFrames && container != .ts && recorded.fragments == nil
                && recorded.isFinished != false
        }
    }

    /// All recordings, the oldest first.
    public private(set) var files: [File] = []
    /// Files that should be recordings, by their names, and cannot be read, with the reasons.
    public private(set) var damaged: [(path: String, error: PipelineError)] = []
    /// Files in the directories that are no recordings.
    public private(set) var skipped: [String] = []

    /// Reads the headers of files, and of all files in directories and the directories in them.
    /// Hidden files are ignored, and symbolic links to directories are not followed.
    ///
    /// - Throws: ``PipelineError``: ``PipelineError/Code/notFound`` if a path does not exist;
    ///   ``PipelineError/Code/interrupted`` if the task was cancelled.
    public init(of paths: [String]) async throws(PipelineError) {
        var found: [(path: String, isNamed: Bool)] = []
        for path in paths { try Self.find(path, isNamed: true, &found) }
        for (file, (path, isNamed)) in zip(await Self.read(found.map(\.path)), found) {
            do throws(PipelineError) { files.append(try file.get()) } catch {
                if isNamed || File.hasEnding(path) {
                    damaged.append((path, error))
                } else {
                    skipped.append(path)
                }
            }
        }
        guard !Task.isCancelled else {
            throw PipelineError(.interrupted, message: "the list of recordings was cancelled")
        }
        files.sort { one, other in
            one.isEstimated && other.isEstimated
                ? (one.end, one.path) < (other.end, other.path)
                : (one.date, one.path) < (other.date, other.path)
        }
        sortFilesWrittenTogether()
        var end: Int64?
        for index in files.indices {
            if let end, files[index].date - end > files[index].tolerance {
                files[index].gapBefore = .nanoseconds(files[index].date - end)
            }
            end = max(end ?? .min, files[index].end)
        }
    }

    /// Puts neighbours with estimated times into the order of their paths if they cannot have been recorded one
    /// after the other: files that are written faster than in real time are complete in any order.
    private mutating func sortFilesWrittenTogether() {
        var first = 0
        for index in files.indices {
            let next = index + 1
            if next < files.count, files[index].isEstimated, files[next].isEstimated,
                files[next].end - files[index].end < files[next].length / 2
            {
                continue
            }
            // Numbers in names count as numbers.
            files[first...index].sort { strverscmp($0.path, $1.path) < 0 }
            first = next
        }
    }

    /// Reads the headers of files, as many at a time as there are processors: most of the work is that of
    /// GStreamer's threads.
    private static func read(_ paths: [String]) async -> [Result<File, PipelineError>] {
        await withTaskGroup(of: (Int, Result<File, PipelineError>).self) { group in
            let cancelled = PipelineError(.interrupted, message: "reading was cancelled")
            var files = [Result<File, PipelineError>](
                repeating: .failure(cancelled), count: paths.count)
            var next = 0
            func readNext() {
                guard next < paths.count, !Task.isCancelled else { return }
                let (index, path) = (next, paths[next])
                group.addTask { (index, await file(path)) }
                next += 1
            }
            for _ in 0..<max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) { readNext() }
            while let (index, file) = await group.next() {
                files[index] = file
                readNext()
            }
            return files
        }
    }

    /// Not a closure: the optimizer of Swift 6.3 loses the index that such a closure returns with the result.
    private static func file(_ path: String) async -> Result<File, PipelineError> {
        do throws(PipelineError) { return .success(try await File(path)) } catch {
            return .failure(error)
        }
    }

    /// Reads the headers of one file.
    ///
    /// - Throws: ``PipelineError`` if it cannot be read, or is no recording.
    public static func file(at path: String) async throws(PipelineError) -> File {
        try await File(path)
    }

    private static func find(
        _ path: String, isNamed: Bool, _ found: inout [(path: String, isNamed: Bool)]
    ) throws(PipelineError) {
        var about = stat()
        guard (isNamed ? stat(path, &about) : lstat(path, &about)) == 0 else {
            guard isNamed else { return }
            throw PipelineError(.notFound, cannot: "read \"\(path)\"", advice: "check the path")
        }
        guard about.st_mode & S_IFMT == S_IFDIR else {
            if isNamed || FileSize.of(path) != nil { found.append((path, isNamed)) }
            return
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            guard isNamed else { return }
            throw PipelineError(cannot: "read the directory \"\(path)\"")
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let separator = path.hasSuffix("/") ? "" : "/"
            try find(path + separator + name, isNamed: false, &found)
        }
    }
}

// MARK: - One file

extension Recordings.File {
    /// How many units of each stream are read; more than any codec has headers.
    private static let enough = 32

    /// Whether a file's name says that it is a recording.
    static func hasEnding(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.split(separator: ".").dropFirst().last.map {
            RecordingContainer.endings[$0.lowercased()] != nil
        } ?? false
    }

    init(_ path: String) async throws(PipelineError) {
        let recorded = try RecordedContainer.of(path)
        let container = recorded.container
        func scan(_ limit: Int?) throws(PipelineError) -> StreamScan {
            try StreamScan(
                of: path, demuxer: container.demuxer,
                // matroskademux 1.22 doubles the sample rate of AAC.
                parsers: container.parsers.merging(
                    container == .mkv ? ["audio/mpeg": "aacparse"] : [:]
                ) { $1 },
                fragments: recorded.fragments, buffersOfEach: limit)
        }
        let first = try scan(Self.enough)
        let found = try await first.run().filter { !$0.times.isEmpty }
        try RecordedTracks.check(found, in: path)
        // MPEG-4 may contain frames that are not shown, at negative times.
        let earliest: Int64 = container.isMovie ? 0 : .min
        let starts = found.map { $0.times.compactMap { $0 }.filter { $0 >= earliest }.min() }
        hasHiddenFrames = found.contains { stream in
            stream.isPicture && stream.times.contains { $0.map { $0 < earliest } ?? false }
        }
        let start = starts.compactMap { $0 }.min() ?? 0
        var end = first.duration.map { MediaTime($0).nanoseconds }
        switch container.structure {
        case .stream: break
        case .flac: end = nil
        case .transportStream: end = end.map { $0 + start }
        case .movie:
            if let fragments = recorded.fragments {
                end = (try? MovieFinish(path))??.end.advanced(
                    by: Int(fragments.delays.values.max() ?? 0))
            }
        case .matroska:
            guard start > 0 || recorded.isFinished == false else { break }
            let last = try MatroskaHeader.lastBlock(of: FileBytes(path))
            if recorded.isFinished == false {
                end = last
            } else if let last, let length = end, last > length {
                // Muxers state either when the file ends or how long it is.
                end = length + start
            }
        }
        if end == nil { end = RecordedTracks.end(of: try await scan(nil).run()).nanoseconds }
        let seconds = max(0, (end ?? start) - start)
        isEstimated = recorded.created == nil
        date = recorded.created ?? (FileSize.lastChange(of: path) ?? 0) - seconds
        began = Date(nanosecondsSince1970: date)
        duration = .nanoseconds(seconds)
        state = ClaimedFile.isLocked(path) ? .recording : recorded.state
        streams = found.map { Stream($0) }
        bytes = FileSize.of(path) ?? 0
        pads = zip(found, starts).map { ($0.pad, $0.mediaType, $1 ?? start) }
        (self.path, self.container, self.recorded, self.start) = (path, container, recorded, start)
    }

    /// How far ``began`` may be off, in nanoseconds: for what the container does not store, and for the
    /// end of the sound, which is not that of the pictures.
    var tolerance: Int64 { container.structure == .matroska ? 100_000_000 : 1_100_000_000 }
}

extension RecordedContainer {
    /// The state of a file that nothing writes.
    var state: Recordings.File.State {
        isFinished.map { $0 ? .finished : .interrupted } ?? .unknown
    }
}

extension Recordings.File.Stream {
    init(_ stream: StreamScan.Stream) {
        let caps = stream.caps
        kind = stream.isPicture ? "video" : String(stream.mediaType.prefix { $0 != "/" })
        codec =
            kind == "audio"
            ? caps.map { AudioCodec($0).rawValue } ?? stream.mediaType
            : VideoCodec(mediaType: stream.mediaType).rawValue
        size = caps?.pictureSize.map { VideoSize(width: $0.width, height: $0.height) }
        (sampleRate, channels) = caps?.soundFormat ?? (nil, nil)
    }
}
