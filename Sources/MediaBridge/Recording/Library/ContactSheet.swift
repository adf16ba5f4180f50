internal import Synchronization

extension Recordings.File {
    /// Returns pictures of the recording at equal distances, in rows, each with its time in the file.
    ///
    /// Reading begins with the key frame before each picture where the container permits that; transport
    /// streams and fragmented MPEG-4 are decoded from the beginning.
    ///
    /// - Parameters:
    ///   - columns: Pictures in a row, at most 40.
    ///   - rows: Number of rows, at most 40.
    ///   - width: Width of the sheet in pixels, at most 16,384. Default 1600.
    /// - Returns: A frame in `BGRA`, without a time.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/badValue`` for numbers out of range,
    ///   ``PipelineError/Code/noFrames`` if no picture can be decoded; ``FrameError`` without memory.
    public func contactSheet(
        columns: Int, rows: Int, width: Int = 1600
    ) async throws(PipelineError) -> VideoFrame {
        guard (1...40).contains(columns), (1...40).contains(rows), (640...16_384).contains(width)
        else {
            throw PipelineError(
                .badValue,
                message: "a contact sheet of \(columns)x\(rows) pictures is out of range",
                advice: "1 to 40 pictures in each direction")
        }
        let cell = cell(of: video?.stream.size, width: width / columns)
        let count = Int64(columns * rows)
        let times = (0..<count).map { start + length / (2 * count) * (2 * $0 + 1) }
        let pictures = try await pictures(at: times, Self.elements(cell))
        do {
            return try Self.sheet(of: pictures, cell, columns: columns, rows: rows)
        } catch {
            throw PipelineError(error)
        }
    }

    /// Returns the picture that is shown at a time of the recording, upright and with square pixels.
    ///
    /// - Parameter time: The time from the beginning of the file. After the end, it is that of the last picture.
    /// - Returns: A frame in `BGRA`, without a time.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/noFrames`` if no picture can be decoded.
    public func picture(at time: Duration) async throws(PipelineError) -> VideoFrame {
        // Matroska rounds times to whole milliseconds.
        let time = start + MediaTime(time).nanoseconds + 500_000
        return try await pictures(
            at: [time],
            Self.upright + "! videoscale ! video/x-raw,format=BGRA,pixel-aspect-ratio=1/1 ! "
        )[0]
    }

    private var video: (pad: String, stream: Stream)? {
        streams.firstIndex { $0.kind == "video" }.map { (pads[$0].name, streams[$0]) }
    }

    /// Returns the size of pictures that are at most so wide, as those of
    /// ``animation(into:from:to:width:framesPerSecond:whenExists:)``.
    package func pictureSize(width: Int) -> VideoSize {
        let own = video?.stream.size
        return cell(of: own, width: min(width, own?.width ?? width))
    }

    /// Returns the pictures at times of the recording, in their order, upright.
    ///
    /// - Parameter times: Times from the beginning, in nanoseconds.
    func pictures(at times: [Int64], size: VideoSize) async throws(PipelineError) -> [VideoFrame] {
        try await pictures(
            at: times.map { start + $0 + 500_000 },
            Self.upright + "! videoscale ! video/x-raw,format=BGRA,width=\(size.width),"
                + "height=\(size.height),pixel-aspect-ratio=1/1 ! ", inOneRun: true)
    }

    /// Returns the picture at or before each of several times, at least one.
    ///
    /// - Parameter inOneRun: Whether the times are close to each other: the recording is read once.
    private func pictures(
        at times: [Int64], _ elements: String, inOneRun: Bool = false
    ) async throws(PipelineError) -> [VideoFrame] {
        guard let video else { throw PipelineError(.noFrames, message: "\(path) has no video") }
        var pictures: [VideoFrame] = []
        for group in isIndexed && !inOneRun ? times.map({ [$0] }) : [times] {
            let chosen = ChosenPictures(at: group)
            let reader = try StreamReader(
                of: path, demuxer: container.demuxer,
                streams: [.init(pad: video.pad, elements: elements)],
                fragments: recorded.fragments)
            let from = isIndexed ? ClockTime(MediaTime(nanoseconds: group[0])) : nil
            try await reader.run(from: from, onTags: { _, _ in }) { chosen.take($1) }
            pictures += chosen.all()
        }
        guard !pictures.isEmpty else {
            throw PipelineError(.noFrames, message: "no picture of \(path) can be decoded")
        }
        return pictures
    }

    /// Returns the size of a picture on the sheet, with even numbers.
    private func cell(of size: VideoSize?, width: Int) -> VideoSize {
        let size = size ?? VideoSize(width: 16, height: 9)
        let height = min(max(width * size.height / max(size.width, 1), 2), 4 * width)
        return VideoSize(width: width / 2 * 2, height: height / 2 * 2)
    }

    private static let upright = "decodebin ! videoconvert ! videoflip video-direction=auto "

    private static func elements(_ cell: VideoSize) -> String {
        upright
            + "! videoscale ! video/x-raw,format=BGRA,width=\(cell.width),height=\(cell.height),"
            + "pixel-aspect-ratio=1/1 ! timeoverlay time-mode=stream-time halignment=right "
            + "valignment=bottom xpad=4 ypad=4 "
            + "! video/x-raw,format=BGRA ! "
    }

    private static func sheet(
        of pictures: [VideoFrame], _ cell: VideoSize, columns: Int, rows: Int
    ) throws -> VideoFrame {
        let size = VideoSize(width: columns * cell.width, height: rows * cell.height)
        var sheet = VideoFrame(try PixelBuffer(.bgra, size: size), runningTime: nil)
        for (index, picture) in pictures.enumerated() {
            let (left, top) = (index % columns * cell.width * 4, index / columns * cell.height)
            let bytes = try picture.withPlanes { planes in
                (0..<cell.height).map { y in planes[0].row(y).withUnsafeBytes { Array($0) } }
            }
            try sheet.withMutablePlanes { planes in
                for (y, row) in bytes.enumerated() {
                    var target = planes[0].row(top + y)
                    target.withUnsafeMutableBytes { target in
                        target[left..<left + row.count].copyBytes(from: row)
                    }
                }
            }
        }
        return sheet
    }
}

/// The last decoded picture at or before each of several times.
private final class ChosenPictures: Sendable {
    private struct State {
        var times: ArraySlice<Int64>
        var latest: StreamReader.Unit?
        var chosen: [StreamReader.Unit] = []
    }
    private let state: Mutex<State>

    init(at times: [Int64]) { state = Mutex(State(times: times[...])) }

    /// Returns whether more pictures are wanted.
    func take(_ unit: StreamReader.Unit) -> Bool {
        state.withLock { state in
            let time = unit.presented ?? .min
            while let next = state.times.first, time > next {
                state.chosen.append(state.latest ?? unit)
                state.times.removeFirst()
            }
            state.latest = unit
            return !state.times.isEmpty
        }
    }

    /// Returns the pictures; for times after the end, the last one.
    func all() -> [VideoFrame] {
        let units = state.withLock { state in
            state.chosen + state.times.compactMap { _ in state.latest }
        }
        return units.compactMap { unit in
            VideoInfo(unit.caps).map {
                VideoFrame(
                    BufferFrameStorage(unit.buffer.retained(), FrameLayout($0)), runningTime: nil)
            }
        }
    }
}
