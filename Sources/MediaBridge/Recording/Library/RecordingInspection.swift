extension Recordings.File {
    /// What a recording contains, and what is wrong with it.
    public struct Inspection: Sendable {
        /// One stream.
        public struct Track: Sendable {
            /// Its format.
            public var stream: Stream
            /// Number of encoded frames: pictures, or blocks of sound.
            public var frames: Int
            /// Size of all encoded frames in bytes.
            public var bytes: Int
            /// Number of key frames. Every block of sound is one.
            public var keyFrames: Int
            /// The longest time between two key frames; `nil` with fewer than two.
            public var longestKeyFrameDistance: Duration?
            /// Time from the recording's first encoded frame to the stream's first one.
            public var begins: Duration
            /// Time from the stream's first encoded frame to its last one.
            public var duration: Duration
            /// The times in which encoded frames are missing, from the recording's first encoded frame: each begins
            /// with the last one before the gap, and lasts as much longer than usual as the next one, or the
            /// recording's end, is away.
            ///
            /// A gap is longer than five usual distances between two encoded frames, and than 100 ms; or the stream
            /// ends more than a second before the recording. A receiver whose sender states another frame rate than
            /// it sends (`rtpjitterbuffer`) corrects its times at regular distances. Such jumps are no gaps: nothing
            /// is missing in them.
            public var gaps: [Range<Duration>]
            /// GStreamer's media type, for example `video/x-h264`.
            package var mediaType: String
        }
        /// The recording.
        public var file: Recordings.File
        /// Its streams.
        public var tracks: [Track]
        /// What cannot be read, or is not as it should be; empty for a sound file.
        public var damage: [String]
        /// What ``Recordings/repair(_:to:stallTimeout:)`` would gain; `nil`: nothing.
        public var gain: String?
    }

    /// Reads the recording to its end, without decoding: damage within an encoded frame is not found.
    ///
    /// - Throws: ``PipelineError``: ``PipelineError/Code/interrupted`` if the task was cancelled; an
    ///   error if there is no element to read the file.
    public func inspect() async throws(PipelineError) -> Inspection {
        let scan = try StreamScan(
            of: path, demuxer: container.demuxer, parsers: container.parsers,
            fragments: recorded.fragments)
        var damage = try ContainerDamage.parts(of: path, container)
        do throws(PipelineError) { _ = try await scan.run() } catch {
            guard error.code != .interrupted else { throw error }
            damage.append("\(error)")
        }
        for found in scan.streams where !found.times.isEmpty {
            guard let index = pads.firstIndex(where: { $0.name == found.pad }) else { continue }
            damage += found.damage(of: streams[index].kind, from: start)
        }
        for (stream, pad) in zip(streams, pads)
        where !scan.streams.contains(where: { $0.pad == pad.name && !$0.times.isEmpty }) {
            damage.append("\(stream): no frame can be read")
        }
        return Inspection(
            file: self, tracks: tracks(of: scan.streams), damage: damage, gain: gain)
    }

    /// Returns what was read of the file's streams, except of those without a frame.
    func tracks(of scanned: [StreamScan.Stream]) -> [Inspection.Track] {
        let end = scanned.flatMap(\.times).compactMap { $0 }.max() ?? start
        return scanned.filter { !$0.times.isEmpty }.compactMap { found in
            zip(streams, pads).first { $1.name == found.pad }.map { stream, _ in
                Inspection.Track(stream, found, from: start, to: end)
            }
        }
    }

    private var gain: String? {
        switch (state, container.structure) {
        case (.recording, _), (_, .transportStream): nil
        case (_, .movie): recorded.fragments.map { _ in "one index instead of fragments" }
        case (.interrupted, _): "the duration, and the index for seeking"
        default: nil
        }
    }
}

extension Recordings.File.Inspection.Track {
    fileprivate init(
        _ stream: Recordings.File.Stream, _ found: StreamScan.Stream, from start: Int64,
        to end: Int64
    ) {
        let times = found.times.compactMap { $0 }.sorted()
        let keys = found.keys.compactMap { found.times[$0] }.sorted()
        let steps = zip(times.dropFirst(), times).map { $0 - $1 }
        let usual = steps.isEmpty ? 0 : steps.sorted()[steps.count / 2]
        (self.stream, mediaType) = (stream, found.mediaType)
        (frames, bytes, keyFrames) = (found.times.count, found.bytes, found.keys.count)
        longestKeyFrameDistance = zip(keys.dropFirst(), keys).map { $0 - $1 }.max().map {
            .nanoseconds($0)
        }
        begins = .nanoseconds((times.first ?? start) - start)
        duration = .nanoseconds((times.last ?? 0) - (times.first ?? 0))
        let jumps = steps.indices.filter { steps[$0] > max(5 * usual, 100_000_000) }
        let corrections = Self.corrections(among: jumps, of: steps, usual)
        func gap(after time: Int64, _ length: Int64) -> Range<Duration> {
            .nanoseconds(time - start)..<(.nanoseconds(time - start + length))
        }
        gaps = jumps.filter { !corrections.contains($0) }.map {
            gap(after: times[$0], steps[$0] - usual)
        }
        if let last = times.last, end - last - usual > 1_000_000_000 {
            gaps.append(gap(after: last, end - last - usual))
        }
    }

    /// Returns the jumps by which a receiver corrects times that run too slowly: three or more of about the
    /// same length, each after about the same number of steps of exactly the usual length. Where frames are
    /// missing at such distances, the jumps are a whole number of steps.
    private static func corrections(
        among jumps: [Int], of steps: [Int64], _ usual: Int64
    ) -> Set<Int> {
        let rounding: Int64 = 1_500_000
        let exact = steps.count { abs($0 - usual) <= rounding }
        guard jumps.count > 2, usual > 0, exact * 10 > (steps.count - jumps.count) * 9 else {
            return []
        }
        let runs = zip(jumps.dropFirst(), jumps).map { $0 - $1 }
        let (length, run) = (
            jumps.map { steps[$0] }.sorted()[jumps.count / 2], runs.sorted()[runs.count / 2]
        )
        func isAlike(_ value: Int64, _ other: Int64) -> Bool {
            abs(value - other) * 10 <= other * 3
        }
        let alike = jumps.indices.filter { index in
            let near = [index - 1, index].filter { runs.indices.contains($0) }
            return isAlike(steps[jumps[index]], length)
                && near.contains { isAlike(Int64(runs[$0]), Int64(run)) }
        }.map { jumps[$0] }
        let isLoss = alike.allSatisfy { jump in
            let rest = steps[jump] % usual
            return min(rest, usual - rest) <= rounding
        }
        return alike.count < 3 || isLoss ? [] : Set(alike)
    }
}

extension StreamScan.Stream {
    /// Descriptions of what is wrong with the units.
    fileprivate func damage(of kind: String, from start: Int64) -> [String] {
        var damage: [String] = []
        let timeless = times.count { $0 == nil }
        if timeless > 0 { damage.append("\(kind): \(timeless) encoded frames without a time") }
        let first = keys.first ?? times.count
        if first > 0 {
            damage.append("\(kind): \(first) encoded frames before the first key frame")
        }
        return damage
    }
}
