internal import MediaBasics

/// Counts the samples of an MPEG-4 file whose last fragment was written in part. qtdemux ends at the first sample
/// that lacks bytes, although samples of another track follow.
///
/// Source: ISO/IEC 14496-12, sections 8.8.3 (`trex`), 8.8.7 (`tfhd`) and 8.8.8 (`trun`).
enum MovieFragments {
    private typealias Box = MovieBox<[UInt8]>

    /// Returns the number of complete samples of each track, by its number; `nil` for a file without fragments.
    static func samples(of path: String) throws(PipelineError) -> [Int: Int]? {
        let file = try FileBytes(path)
        var sizes: [UInt32: UInt32] = [:]
        var counts: [Int: Int]?
        try file.forEachBox { type, place, size in
            guard ["moov", "moof"].contains(type), place + size <= file.count,
                let bytes = file.read(size, at: place), bytes.count == size
            else { return }
            let box = Box(bytes: bytes, type: type, content: 8..<size)
            guard type == "moof" else {
                for defaults in box.children("mvex").flatMap({ $0.children("trex") }) {
                    sizes[defaults.number32(at: 4)] = defaults.number32(at: 16)
                }
                return
            }
            counts = counts ?? [:]
            /// The end of the data before.
            var end = place
            for traf in box.children("traf") {
                guard let header = traf.child("tfhd") else { continue }
                let track = header.number32(at: 4)
                let flags = header.number32(at: 0) & 0xff_ffff
                let hasBase = flags & 0x1 != 0
                let base =
                    hasBase ? header.number(at: 8, width: 8) : flags & 0x2_0000 != 0 ? place : end
                let before =
                    (hasBase ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0) + (flags & 0x8 != 0 ? 4 : 0)
                let usual =
                    flags & 0x10 != 0
                    ? header.number32(at: 8 + before) : sizes[track] ?? 0
                for run in traf.children("trun") {
                    counts?[Int(track), default: 0] += samples(
                        of: run, base ?? end, usual, &end, file.count)
                }
            }
        }
        return counts
    }

    /// Returns the number of a run's samples that end in the file.
    ///
    /// - Parameter end: The end of the data before; becomes that of the run.
    private static func samples(
        of run: Box, _ base: Int, _ usual: UInt32, _ end: inout Int, _ limit: Int
    ) -> Int {
        let flags = run.number32(at: 0) & 0xff_ffff
        if flags & 0x1 != 0 { end = base &+ Int(Int32(bitPattern: run.number32(at: 8))) }
        var at = 8 + (flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0)
        let before = flags & 0x100 != 0 ? 4 : 0
        let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & $1 != 0 ? 4 : 0) }
        var count = 0
        for _ in 0..<min(Int(run.number32(at: 4)), limit) {
            end &+= Int(flags & 0x200 != 0 ? run.number32(at: at + before) : usual)
            at += width
            guard end <= limit else { break }
            count += 1
        }
        return count
    }
}
