/// Checks of a recording's tracks, before and after a repair.
enum RecordedTracks {
    /// Throws if the file contains no units.
    static func check(_ streams: [StreamScan.Stream], in path: String) throws(PipelineError) {
        guard streams.contains(where: { !$0.times.isEmpty }) else {
            throw PipelineError(
                .noFrames,
                message: "\(path) contains no frame: the recording ended before the first one")
        }
    }

    /// Throws if the new file lacks anything that the old one has.
    static func compare(
        _ before: [StreamScan.Stream], _ after: [StreamScan.Stream],
        _ container: RecordingContainer
    ) throws(PipelineError) {
        // Tracks without units are ignored.
        let before = before.filter { !$0.times.isEmpty }
        let after = after.filter { !$0.times.isEmpty }
        guard before.map(\.mediaType).sorted() == after.map(\.mediaType).sorted() else {
            throw difference(
                "tracks of \(list(before)), the new file tracks of \(list(after))")
        }
        // Transport streams may begin at any time, so only times relative to the first are
        // compared.
        let shift = container == .ts ? (first(after) ?? 0) - (first(before) ?? 0) : 0
        var rest = after
        for stream in before {
            // The order of the tracks may differ, so each is matched with its counterpart.
            let index = rest.firstIndex {
                $0.mediaType == stream.mediaType
                    && mismatch(stream.times, $0.times, shift, container.precision) == nil
            }
            if let index {
                rest.remove(at: index)
                continue
            }
            let other = rest.first { $0.mediaType == stream.mediaType }?.times ?? []
            guard stream.times.count == other.count else {
                throw difference(
                    "\(stream.times.count) frames of \(stream.mediaType), the new file "
                        + "\(other.count)")
            }
            let place = mismatch(stream.times, other, shift, container.precision) ?? 0
            throw difference(
                "frame \(place) of \(stream.mediaType) at \(text(stream.times[place])), the new "
                    + "file at \(text(other[place]))")
        }
    }

    /// Returns the time from the first unit to the last, in seconds.
    static func seconds(of streams: [StreamScan.Stream]) -> Double {
        let times = streams.flatMap(\.times).compactMap { $0 }
        guard let first = times.min(), let last = times.max() else { return 0 }
        return Double(last - first) / 1e9
    }

    /// Returns the end of the last unit, which is taken to last as long as the one before it.
    static func end(of streams: [StreamScan.Stream]) -> MediaTime {
        let ends = streams.compactMap { stream -> Int64? in
            let times = stream.times.compactMap { $0 }.sorted().suffix(2)
            guard let first = times.first, let last = times.last else { return nil }
            return last + (last - first)
        }
        return MediaTime(nanoseconds: ends.max() ?? 0)
    }

    private static func mismatch(
        _ a: [Int64?], _ b: [Int64?], _ shift: Int64, _ precision: Int64
    ) -> Int? {
        guard a.count == b.count else { return min(a.count, b.count) }
        return a.indices.first { index in
            switch (a[index], b[index]) {
            case (let a?, let b?): abs(b - shift - a) > precision
            // A unit that had no time may get one.
            case (nil, _): false
            case (_?, nil): true
            }
        }
    }

    private static func first(_ streams: [StreamScan.Stream]) -> Int64? {
        streams.flatMap(\.times).compactMap { $0 }.min()
    }

    private static func list(_ streams: [StreamScan.Stream]) -> String {
        streams.isEmpty ? "nothing" : streams.map(\.mediaType).joined(separator: ", ")
    }

    private static func text(_ time: Int64?) -> String {
        time.map { "\(MediaTime(nanoseconds: $0))" } ?? "no time"
    }

    private static func difference(_ what: String) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the repair failed: the recording has \(what)",
            advice: "keep the recording, which is unchanged")
    }
}
