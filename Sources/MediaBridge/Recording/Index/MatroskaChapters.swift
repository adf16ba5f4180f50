internal import MediaBasics

/// Adds marks to a complete Matroska file as chapters.
///
/// The chapters are appended, then the size of the segment includes them, then the list of positions
/// names them, in place of the entry that GStreamer's muxer reserves for chapters and makes void. A
/// process that is killed in between leaves a file that plays, without chapters.
///
/// Source: RFC 9559, sections 5.1.1 (`SeekHead`) and 5.1.7 (`Chapters`); RFC 8794, section 4 (sizes).
enum MatroskaChapters {
    private static let (seekHead, void) = (0x114d_9b74, 0xec)
    /// The length of an entry in the list of positions, in bytes.
    private static let entryLength = 28

    /// - Parameter onProgress: Called while the disk takes the file's data.
    static func add(
        _ marks: [RecordedFile.Mark], to path: String, onProgress: () -> Void = {}
    ) throws(PipelineError) {
        let file = try FileBytes(path)
        guard let head = file.read(4096, at: 0), let places = places(in: head, file.count) else {
            throw bad(path, "its header has no room for chapters")
        }
        let chapters = chapters(marks)
        let content = places.segment + 12
        let size = UInt64(file.count - content + chapters.count) | 1 << 56
        let entry = element(
            0x4dbb,
            element(0x53ab, UInt32(0x1043_a770).bytes)
                + element(0x53ac, UInt64(file.count - content).bytes))
        let steps = [
            (file.count, [chapters]), (places.segment + 4, [size.bytes]), (places.void, [entry]),
        ]
        if let reason = file.change(steps, onProgress: onProgress) { throw bad(path, reason) }
    }

    /// Returns the offsets of the segment, whose size is 8 bytes long, and of the void entry.
    private static func places(in head: [UInt8], _ count: Int) -> (segment: Int, void: Int)? {
        guard let (_, header) = MatroskaHeader.element(head, 0),
            case let start = header.upperBound,
            let (id, segment) = MatroskaHeader.element(head, start), id == MatroskaHeader.segment,
            segment.lowerBound == start + 12, segment.upperBound == count,
            let (list, entries) = MatroskaHeader.element(head, segment.lowerBound),
            list == seekHead
        else { return nil }
        var at = entries.lowerBound
        while at < entries.upperBound, let (id, content) = MatroskaHeader.element(head, at) {
            if id == void, content.upperBound - at == entryLength { return (start, at) }
            at = content.upperBound
        }
        return nil
    }

    private static func chapters(_ marks: [RecordedFile.Mark]) -> [UInt8] {
        let atoms = marks.enumerated().flatMap { index, mark in
            element(
                0xb6,
                element(0x73c4, UInt32(index + 1).bytes)
                    + element(0x91, UInt64(clamping: MediaTime(mark.time).nanoseconds).bytes)
                    + element(
                        0x80,
                        element(0x85, Array(mark.name.utf8)) + element(0x437c, Array("und".utf8))))
        }
        return element(0x1043_a770, element(0x45b9, atoms))
    }

    /// Returns an element; its size is 8 bytes long if it is a list, as the muxer writes it.
    private static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
        let size =
            content.count < 127 && id != 0x4dbb
            ? [UInt8(content.count) | 0x80] : (UInt64(content.count) | 1 << 56).bytes
        return Array(id.bytes.drop { $0 == 0 }) + size + content
    }

    private static func bad(_ path: String, _ reason: String) -> PipelineError {
        PipelineError(
            .resourceFailed,
            message:
                "the marks of \"\(path)\" cannot be stored as chapters: \(reason). The file is "
                + "complete, and plays", advice: "the report has the marks")
    }
}
