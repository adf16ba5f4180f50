internal import Synchronization

/// The pictures from the beginning of an exact clip to the next key frame, encoded again: the recording's own
/// refer to pictures before the beginning.
struct ExactBeginning: Sendable {
    /// With their times in the recording.
    private(set) var units: [StreamReader.Unit] = []
    /// How much earlier than presented the picture after them is decoded, in nanoseconds.
    let delay: Int64
    /// The time of the next key frame in the recording, in nanoseconds; the maximum if there is none.
    let copiedFrom: Int64
    /// The recording's format, and the same with the codec data of both encoders.
    private(set) var recorded, written: Caps

    /// - Parameter range: The clip in the recording's own time, in nanoseconds.
    /// - Returns: `nil` if the recording has a key frame at the beginning, or no pictures.
    static func encode(
        _ plan: ClipPlan, _ range: Range<Int64>, in container: RecordingContainer
    ) async throws(PipelineError) -> Self? {
        guard let index = plan.streams.firstIndex(of: .video) else { return nil }
        let (start, end) = (range.lowerBound, range.upperBound)
        let pictures = FoundUnits(atMost: 1) {
            $0.comes(at: end) || $0.comes(at: start) && $0.isKey
        }
        try await plan.reader().run(
            from: plan.mayBeSought ? ClockTime(MediaTime(nanoseconds: start)) : nil,
            onTags: { _, _ in }
        ) { $0 == index ? pictures.take($1) : !pictures.isFound }
        guard let last = pictures.units.last else { return nil }
        let next = last.isKey && last.comes(at: start) ? last.presented : nil
        if let next, next <= start + ClipCutter.rounding { return nil }
        var result = Self(
            delay: next == nil ? 0 : max(0, last.delay), copiedFrom: next ?? .max,
            recorded: last.caps, written: last.caps)
        // Decoders show pictures after another key frame than an IDR picture as they like.
        let isSought = plan.file.isIndexed && pictures.key?.isKey == true
        try await result.encode(
            plan.file, plan.pad(index), start..<min(end, next ?? end), isSought,
            in: container)
        return result
    }

    private mutating func encode(
        _ file: Recordings.File, _ pad: String, _ range: Range<Int64>, _ isSought: Bool,
        in container: RecordingContainer
    ) async throws(PipelineError) {
        let codec = VideoCodec(mediaType: recorded.mediaType)
        var encoding = VideoEncoding(codec)
        let own = recorded.codecData.flatMap { ParameterSets($0) }
        encoding.parameterSet = (0...31).last { own?.numbers.contains($0) != true }
        guard let size = recorded.pictureSize, [.h264, .vp8, .vp9].contains(codec),
            !recorded.description.contains("profile=(string)high-"),
            case let recipe = try RecordingRecipe(encoding, in: container),
            codec != .h264 || recipe.described.element == "x264enc"
        else {
            throw PipelineError(
                .streamFailed,
                message:
                    "\(file.path) has \(recorded): an exact clip needs H.264 with 8 bits and x264enc, "
                    + "VP8 or VP9",
                advice: "a clip that begins with a key frame")
        }
        let info = try VideoInfo(format: "I420", width: size.width, height: size.height)
        let reader = try StreamReader(
            of: file.path, demuxer: file.container.demuxer,
            streams: [
                .init(
                    pad: pad,
                    elements: "decodebin ! identity name=cut ! "
                        + recipe.elements(encoding, info))
            ], fragments: file.recorded.fragments)
        let found = FoundUnits { $0.comes(at: range.upperBound) }
        try await reader.run(
            from: isSought ? ClockTime(MediaTime(nanoseconds: range.lowerBound)) : nil,
            firstPicture: range.lowerBound - ClipCutter.rounding, onTags: { _, _ in }
        ) { found.take($1) }
        units = found.units.filter { !$0.comes(at: range.upperBound) }
        guard !found.isFull else {
            throw PipelineError(
                .streamFailed,
                message:
                    "\(file.path) has no key frame for so long that the encoded beginning is too large",
                advice: "a clip that begins with a key frame")
        }
        guard let data = units.first?.caps.codecData, let recordedData = recorded.codecData else {
            return
        }
        guard let own, let others = ParameterSets(data),
            let merged = own.merged(with: others),
            let caps = try? recorded.replacingCodecData(recordedData, by: merged)
        else {
            throw PipelineError(
                .streamFailed, message: "\(file.path) has unusual codec data in \(recorded)",
                advice: "a clip that begins with a key frame")
        }
        written = caps
    }
}

extension Buffer {
    /// Whether a frame of H.264 contains a NAL unit of a type.
    func contains(_ type: UInt8, in caps: Caps) -> Bool {
        guard let mapped = MappedBuffer(self) else { return false }
        return mapped.bytes.withUnsafeBytes { bytes in
            NetworkUnits(bytes, of: .h264, codecData: caps.codecData).contains {
                bytes[$0] & 0x1f == type
            }
        }
    }
}

extension StreamReader.Unit {
    /// Whether decoding may begin with it, and no later unit refers to an earlier one.
    var isKey: Bool {
        guard !buffer.isDelta else { return false }
        return caps.mediaType != "video/x-h264" || buffer.contains(5, in: caps)  // an IDR picture
    }

    fileprivate var delay: Int64 { presented.flatMap { shown in decoded.map { shown - $0 } } ?? 0 }

    fileprivate func comes(at time: Int64) -> Bool {
        (presented ?? decoded).map { $0 >= time - ClipCutter.rounding } ?? false
    }
}

/// The units up to one that is looked for, and that one.
private final class FoundUnits: Sendable {
    private struct State {
        /// The last key frame before the one that is looked for, as the container says.
        var key: StreamReader.Unit?
        var units: [StreamReader.Unit] = []
        var bytes = 0
        var isFound = false
    }
    private let state = Mutex(State())
    private let count: Int
    private let isLast: @Sendable (StreamReader.Unit) -> Bool

    /// - Parameter count: How many units are kept, the latest ones.
    init(atMost count: Int = .max, isLast: @escaping @Sendable (StreamReader.Unit) -> Bool) {
        (self.count, self.isLast) = (count, isLast)
    }

    var key: StreamReader.Unit? { state.withLock { $0.key } }
    var units: [StreamReader.Unit] { state.withLock { $0.units } }
    var isFound: Bool { state.withLock { $0.isFound } }
    /// Whether the units are larger than what is kept in memory.
    var isFull: Bool { state.withLock { $0.bytes > ClipCutter.largestGroup } }

    /// Returns whether more units are wanted.
    func take(_ unit: StreamReader.Unit) -> Bool {
        state.withLock { state in
            guard !state.isFound else { return false }
            if state.units.count == count {
                state.bytes -= state.units.removeFirst().buffer.byteCount
            }
            state.units.append(unit)
            state.bytes += unit.buffer.byteCount
            let isLast = isLast(unit)
            if !isLast, !unit.buffer.isDelta { state.key = unit }
            state.isFound = isLast || state.bytes > ClipCutter.largestGroup
            return !state.isFound
        }
    }
}

/// The codec data of H.264 in Matroska and MPEG-4.
///
/// Source: ISO/IEC 14496-15, section 5.3.3.1 (`AVCDecoderConfigurationRecord`).
struct ParameterSets {
    private let head: ArraySlice<UInt8>
    private let sequences, pictures: [ArraySlice<UInt8>]
    private let rest: ArraySlice<UInt8>

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 6, bytes[0] == 1 else { return nil }
        var at = 5
        func take(_ mask: UInt8) -> [ArraySlice<UInt8>]? {
            guard at < bytes.count else { return nil }
            var sets: [ArraySlice<UInt8>] = []
            let count = bytes[at] & mask
            at += 1
            for _ in 0..<count {
                guard at + 2 <= bytes.count else { return nil }
                let end = at + 2 + Int(bytes[at]) << 8 + Int(bytes[at + 1])
                guard end <= bytes.count else { return nil }
                sets.append(bytes[at..<end])
                at = end
            }
            return sets
        }
        guard let sequences = take(0x1f), let pictures = take(0xff) else { return nil }
        (self.sequences, self.pictures) = (sequences, pictures)
        (head, rest) = (bytes[..<5], bytes[at...])
    }

    /// The numbers of the sequence parameter sets, which follow four bytes in an Exp-Golomb code.
    var numbers: Set<Int> {
        Set(
            sequences.map { set in
                let code = set.dropFirst(6).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                return code == 0 ? 0 : Int(code >> (31 - 2 * min(15, code.leadingZeroBitCount))) - 1
            })
    }

    /// Returns the codec data of a stream that uses the sets of both; `nil` if the sizes of their units
    /// have different widths.
    func merged(with other: Self) -> [UInt8]? {
        guard head[4] & 3 == other.head[4] & 3 else { return nil }
        let profile = max(head[1], other.head[1])
        let start = [1, profile, head[2] & other.head[2], max(head[3], other.head[3]), head[4]]
        let (sequences, pictures) = (sequences + other.sequences, pictures + other.pictures)
        return start + [0xe0 | UInt8(sequences.count)] + sequences.joined()
            + [UInt8(pictures.count)] + pictures.joined() + (rest.isEmpty ? other.rest : rest)
    }
}
