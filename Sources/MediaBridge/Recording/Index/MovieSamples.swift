internal import MediaBasics

/// The samples of one track of a fragmented file, as the tables of an index.
///
/// The tables are kept in the form of the file, so that the index of a long recording is not a second copy.
///
/// Source: ISO/IEC 14496-12, sections 8.6 (`stts`, `ctts`, `stss`), 8.7 (`stsc`, `stsz`, `co64`) and 8.8 (`trun`).
final class MovieSamples {
    struct Defaults {
        var duration: UInt32 = 0
        var size: UInt32 = 0
        var flags: UInt32 = 0
    }
    /// Values that repeat, with the number of repetitions.
    private struct Runs {
        private(set) var first: UInt32?
        private(set) var last: (count: UInt32, value: UInt32)?
        private(set) var areZero = true
        /// How often each of the first values occurred.
        private var counts: [UInt32: UInt32] = [:]
        /// The most frequent value.
        var usual: UInt32? { counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
        /// The runs before the last one.
        private var done: [UInt8] = []

        mutating func append(_ value: UInt32, count: UInt32 = 1) {
            first = first ?? value
            areZero = areZero && value == 0
            if counts.count < 64 || counts[value] != nil { counts[value, default: 0] += count }
            if let last, last.value == value, last.count <= .max - count {
                self.last = (last.count + count, value)
            } else {
                if let last { done.append(numbers: last.count, last.value) }
                last = (count, value)
            }
        }

        /// Changes the last value.
        mutating func replaceLast(_ change: (UInt32) -> UInt32) {
            guard let last else { return }
            self.last = last.count > 1 ? (last.count - 1, last.value) : nil
            append(change(last.value))
        }

        /// Adds the number of runs, and the runs.
        func write(to bytes: inout MovieBytes) {
            bytes += UInt32(done.count / 8 + (last == nil ? 0 : 1)).bytes
            bytes += done
            if let last { bytes += [last.count, last.value].bytes }
        }
    }

    /// The values of `trex`.
    var defaults = Defaults()
    /// When the first sample is decoded, and how long all last, in the track's units.
    private(set) var start: UInt64 = 0
    private(set) var duration: UInt64 = 0
    /// How long most samples last.
    var usualDuration: UInt32? { durations.usual }
    /// How long the last sample was made longer.
    private var stretch: UInt64 = 0
    var isStretched: Bool { stretch > 0 }
    var mediaDuration: UInt64 { duration &+ stretch }
    private var durations = Runs()
    private var offsets = Runs()
    private var hasNegativeOffset = false
    /// How much later than it is decoded the first sample is presented.
    var firstOffset: UInt64 { UInt64(clamping: Int32(bitPattern: offsets.first ?? 0)) }
    /// When the last sample in the order of presentation ends, counted from ``start``.
    private var shownEnd: Int64 = 0
    /// How long the track is shown: reordered pictures with unequal durations may end after ``duration``.
    var shownDuration: UInt64 {
        max(duration, UInt64(clamping: shownEnd - Int64(clamping: firstOffset)))
    }
    /// The size of every sample, in bytes, of uncompressed sound: in fragments a sample is a block, in an index it is
    /// one moment of all channels. `nil` for all other tracks.
    let frameSize: UInt32?
    private var frames: UInt32 = 0
    private var sizes: [UInt8] = []
    private var keys: [UInt8] = []
    private var chunks: [UInt64] = []
    /// The entries of `stsc`, and the number of samples in the last chunk.
    private var groups: [UInt8] = []
    private var lastGroup: UInt32 = 0
    private var count: UInt32 { frameSize == nil ? UInt32(sizes.count / 4) : frames }

    init(frameSize: UInt32? = nil) { self.frameSize = frameSize }

    /// Begins a fragment. A gap before it lengthens the last sample, an overlap shortens it.
    func begin(at time: UInt64) {
        guard count > 0 else {
            start = time
            return
        }
        let end = start &+ duration
        guard end != time else { return }
        var last: UInt32 = 0
        durations.replaceLast { value in
            last = value
            let wanted = Int64(value) &+ Int64(bitPattern: time &- end)
            return UInt32(clamping: max(0, wanted))
        }
        duration = duration - UInt64(last) + UInt64(durations.last?.value ?? 0)
    }

    /// Makes the last sample longer, so that all together last at least so long.
    func last(atLeast wanted: UInt64) {
        guard duration > 0, wanted > duration else { return }
        let missing = wanted - duration
        durations.replaceLast { value in
            let (sum, overflow) = value.addingReportingOverflow(UInt32(clamping: missing))
            return overflow ? value : sum
        }
        stretch = missing
    }

    /// Adds the samples of a `trun` box.
    ///
    /// - Parameters:
    ///   - base: The offset in the file to which the box's data offset is added.
    ///   - next: The offset of its data if it has none.
    ///   - limit: The size of the file.
    /// - Returns: The offset of the end of its data; `nil` if it is not in the file.
    func add(
        _ run: MovieBox<[UInt8]>, _ base: Int, _ next: Int, _ defaults: Defaults, limit: Int
    ) -> Int? {
        let flags = run.number32(at: 0) & 0xff_ffff
        var at = 8
        func field(_ flag: UInt32) -> UInt32? {
            guard flags & flag != 0 else { return nil }
            defer { at += 4 }
            return run.number32(at: at)
        }
        let offset = field(0x1).map { base + Int(Int32(bitPattern: $0)) } ?? next
        let firstFlags = field(0x4)
        let count = Int(run.number32(at: 4))
        guard offset >= 0, count <= limit else { return nil }
        var end = offset
        var added: UInt32 = 0
        for index in 0..<count {
            // A box that ends too early has no further samples.
            guard flags & 0xf00 == 0 || at < run.content.count else { break }
            let length = field(0x100) ?? defaults.duration
            let size = field(0x200) ?? defaults.size
            let own = field(0x400) ?? defaults.flags
            let shift = field(0x800) ?? 0
            if let frameSize {
                let frames = size / frameSize
                guard frames > 0 else { continue }
                durations.append(1, count: frames)
                duration += UInt64(frames)
                self.frames += frames
                end += Int(size)
                added += frames
                continue
            }
            durations.append(length)
            duration += UInt64(length)
            shownEnd = max(
                shownEnd, Int64(clamping: duration) &+ Int64(Int32(bitPattern: shift)))
            offsets.append(shift)
            if run.version == 1, Int32(bitPattern: shift) < 0 { hasNegativeOffset = true }
            sizes.append(numbers: size)
            let isKey = (index == 0 ? firstFlags ?? own : own) & 0x10000 == 0
            if isKey { keys.append(numbers: self.count) }
            end += Int(size)
            added += 1
        }
        guard end <= limit else { return nil }
        if added > 0 {
            chunks.append(UInt64(offset))
            if added != lastGroup { groups.append(numbers: UInt32(chunks.count), added, 1) }
            lastGroup = added
        }
        return end
    }

    /// Adds the boxes that follow the sample descriptions.
    func write(to bytes: inout MovieBytes) {
        func box(_ type: String, version: UInt8 = 0, _ content: (inout MovieBytes) -> Void) {
            bytes += MovieBytes(box: type) {
                $0 += [version, 0, 0, 0]
                content(&$0)
            }
        }
        box("stts", durations.write)
        if !offsets.areZero { box("ctts", version: hasNegativeOffset ? 1 : 0, offsets.write) }
        if frameSize == nil, keys.count < sizes.count {
            box("stss") {
                $0 += UInt32(keys.count / 4).bytes
                $0 += keys
            }
        }
        box("stsc") {
            $0 += UInt32(groups.count / 12).bytes
            $0 += groups
        }
        box("stsz") {
            $0 += (frameSize ?? 0).bytes + count.bytes
            $0 += sizes
        }
        let isLarge = (chunks.max() ?? 0) > UInt32.max
        box(isLarge ? "co64" : "stco") {
            $0 += UInt32(chunks.count).bytes
            $0 += isLarge ? chunks.bytes : chunks.map { UInt32($0) }.bytes
        }
    }
}

extension [UInt8] {
    /// Appends numbers in the order of files.
    fileprivate mutating func append(numbers: UInt32...) {
        for number in numbers {
            Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
        }
    }
}
