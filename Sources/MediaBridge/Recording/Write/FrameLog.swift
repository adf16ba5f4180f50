internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// Appends a line of JSON for each unit that a recording passes to its muxer, and for each gap, drop
/// and mark; see ``Recorder/Configuration/frameLog``. Thread: the writer's queue.
final class FrameLog {
    private struct Stream {
        var index = 0
        /// The time of the last unit in the recorder's time, and how long it lasts: like the one
        /// before if it does not say so.
        var last: (time: MediaTime, length: MediaTime?)?
        var dropped = DropCounts()
    }
    private let path: String
    private let descriptor: Int32
    private let timeline: RecordingTimeline
    /// Returns the counts of what was dropped so far.
    private let drops: (RecordedStream) -> DropCounts
    /// By the name of the stream.
    private var streams: [String: Stream] = [:]
    /// The index and the path of the last unit's file: asking a file for its path looks at the disk.
    private var file = (index: -1, path: "")

    /// Why the first line that is missing could not be written; `nil` while none is.
    private(set) var failure: PipelineError?
    /// Number of lines that could not be written.
    private(set) var missing = 0
    /// Whether the last line in the log is incomplete: the next one begins with a newline.
    private var isBroken: Bool
    /// Whether the last line found no room in a pipe. Only the first one waits for the reader.
    private var isBehind = false

    /// How long a line waits for the reader of a pipe, in milliseconds.
    private static let waitLimit: Int32 = 200
    /// How much later than expected a unit may be because times are rounded, in nanoseconds.
    private static let rounding: Int64 = 1_000_000
    private static let utc = WallClock(zone: "UTC")

    /// Opens the log, and creates it if it does not exist. Does not wait for the reader of a pipe.
    ///
    /// - Throws: ``PipelineError`` for the name of a recording, and for an existing file that is no log.
    init(
        _ path: String, timeline: RecordingTimeline, drops: @escaping (RecordedStream) -> DropCounts
    ) throws(PipelineError) {
        self.path = path
        self.timeline = timeline
        self.drops = drops
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        for name in [path, link ?? path] where (try? RecordingContainer(path: name)) != nil {
            throw Self.refusal(path, "has the extension of a recording")
        }
        // A pipe that is open for reading too can be opened without a reader.
        let flags = O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC
        let both = open(path, O_RDWR | flags, 0o666)
        descriptor = both >= 0 ? both : open(path, O_WRONLY | flags, 0o666)
        guard descriptor >= 0 else {
            throw PipelineError(cannot: "write \"\(path)\"")
        }
        var status = stat()
        fstat(descriptor, &status)
        let size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        isBroken = size > 0 && Self.byte(at: size - 1, in: descriptor) != UInt8(ascii: "\n")
        // Recordings lock their files exclusively.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw Self.refusal(path, "is written by a recording")
        }
        if size > 0, Self.byte(at: 0, in: descriptor) != UInt8(ascii: "{") {
            throw Self.refusal(path, "exists, and is no log of timestamps")
        }
    }

    private static func byte(at offset: Int, in descriptor: Int32) -> UInt8? {
        var byte: UInt8 = 0
        return pread(descriptor, &byte, 1, offset) == 1 ? byte : nil
    }

    private static func refusal(_ path: String, _ reason: String) -> PipelineError {
        PipelineError(
            .badValue, message: "timestamps cannot be appended to \"\(path)\": it \(reason)",
            advice: "a new name such as cam.jsonl")
    }

    deinit { close(descriptor) }

    /// Notes a unit that was passed to a file's muxer.
    func add(_ unit: EncodedUnit, to file: RecordingFile) {
        if self.file.index != file.index {
            for name in streams.keys { streams[name]?.index = 0 }
            self.file = (file.index, file.path)
        }
        let name = unit.stream.name
        var stream = streams[name] ?? Stream()
        let causes = add(drops(unit.stream), of: name, &stream)
        let step = stream.last.map { unit.time - $0.time }
        if let (time, length) = stream.last, let length, let step,
            (step - length).nanoseconds > length.nanoseconds / 2 + Self.rounding
        {
            var gap = Line("gap", name)
            place(&gap, at: time + length, in: file)
            gap.seconds = (step - length).seconds
            gap.cause = causes.first?.rawValue ?? "source"
            write(gap)
        }
        var line = Line("frame", name)
        place(&line, at: unit.presented, in: file)
        (line.index, line.key, line.bytes) = (stream.index, unit.isKey, unit.byteCount)
        write(line)
        stream.index += 1
        stream.last = (unit.time, unit.duration ?? step)
        streams[name] = stream
    }

    /// Notes a mark at a time of the recorder.
    func add(_ mark: String, at time: MediaTime, in file: RecordingFile) {
        var line = Line("mark", nil)
        place(&line, at: time, in: file)
        line.name = mark
        write(line)
    }

    /// Notes what was dropped since the last unit.
    func finish(_ report: RecorderReport) {
        for track in report.tracks {
            var stream = streams[track.stream] ?? Stream()
            _ = add(track.losses, of: track.stream, &stream)
            streams[track.stream] = stream
        }
    }

    /// Writes a line for each cause whose count has grown, and returns these causes.
    private func add(
        _ dropped: DropCounts, of name: String, _ stream: inout Stream
    ) -> [DropCause] {
        guard dropped != stream.dropped else { return [] }
        let causes = DropCause.allCases.filter { dropped[$0] > stream.dropped[$0] }
        for cause in causes {
            var line = Line("drop", name)
            line.wall = Self.text(timeline.wallClock.now())
            line.cause = cause.rawValue
            line.count = dropped[cause] - stream.dropped[cause]
            write(line)
        }
        stream.dropped = dropped
        return causes
    }

    /// One line; scripts rely on its keys.
    private struct Line: Encodable {
        let type: String
        let stream: String?
        var file: String?
        /// Media time in the file, in seconds.
        var time: Double?
        /// When it was captured: ISO 8601, UTC, with microseconds.
        var wall: String?
        var index: Int?
        var key: Bool?
        var bytes: Int?
        var seconds: Double?
        var cause: String?
        var count: Int?
        var name: String?

        init(_ type: String, _ stream: String?) { (self.type, self.stream) = (type, stream) }
    }

    private func place(_ line: inout Line, at time: MediaTime, in file: RecordingFile) {
        line.file = file.index == self.file.index ? self.file.path : file.path
        line.time = (time - file.zero).seconds
        line.wall = Self.text(timeline.wallTime(of: time))
    }

    private static func text(_ time: Int64) -> String {
        utc.text(of: time, format: "%Y-%m-%dT%H:%M:%S.%fZ") ?? ""
    }

    /// The error of the last call, for a line that is missing.
    private var reason: PipelineError {
        guard isBehind else {
            return PipelineError(
                cannot: "write \"\(path)\"",
                advice: "free space on that disk; timestamps are missing until then")
        }
        return PipelineError(
            .resourceFailed, message: "the reader of \"\(path)\" is too slow for the timestamps",
            advice: "a file instead of the pipe")
    }

    private func write(_ line: Line) {
        guard let text = try? JSONLine.text(of: line) else { return }
        var bytes = Array("\(isBroken ? "\n" : "")\(text)\n".utf8)[...]
        var waits = !isBehind
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
                isBroken = !bytes.isEmpty
                continue
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN, waits {
                waits = false
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&request, 1, Self.waitLimit) > 0 { continue }
                errno = EAGAIN
            }
            isBehind = errno == EAGAIN
            missing += 1
            failure = failure ?? reason
            return
        }
        isBehind = false
    }
}
