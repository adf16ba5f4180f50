/// Damage of a container's structure: bytes that belong to no element, and lost packets. Readers skip such
/// parts without an error, or end before them.
///
/// Sources: RFC 9559, section 5 (Matroska elements); ISO/IEC 13818-1, section 2.4.3.2 (`sync_byte`,
/// `continuity_counter`).
enum ContainerDamage {
    /// Returns a description of each damaged part; of MPEG-4 files, of the first one.
    static func parts(of path: String, _ container: RecordingContainer) throws(PipelineError)
        -> [String]
    {
        let file = try FileBytes(path)
        return switch container.structure {
        case .matroska: matroska(file)
        case .transportStream: transportStream(file)
        case .movie: try movie(file)
        case .flac, .stream: []
        }
    }

    // MARK: Matroska

    /// The elements whose children follow: the segment, clusters and groups of blocks.
    private static let parents = [MatroskaHeader.segment, MatroskaHeader.cluster, 0xa0]
    /// Void and CRC-32, which may be everywhere.
    private static let fillers = [0xec, 0xbf]
    /// The other elements of a file, a segment, a cluster and a group of blocks.
    private static let elements = Set([
        0x1a45_dfa3, 0x114d_9b74, 0x1549_a966, 0x1654_ae6b, 0x1c53_bb6b, 0x1254_c367, 0x1043_a770,
        0x1941_a469, 0x5854, 0x75a1, 0x75a2, 0x8e, 0x9b, 0xa1, 0xa2, 0xa3, 0xa4, 0xa7, 0xab, 0xaf,
        0xbf, 0xc8, 0xe7, 0xec, 0xfa, 0xfb, 0xfd,
    ])

    /// An incomplete element at the end is no damage: the muxer was interrupted. Zeros at the end are no
    /// damage: a file system may leave them after a power failure.
    private static func matroska(_ file: FileBytes) -> [String] {
        // The end of the cluster: 0 outside of clusters, the greatest number where it is not stated.
        var (parts, at, end) = ([String](), 0, 0)
        while at < file.count {
            var isInterrupted = file.count - at < 16
            if let (id, content) = MatroskaHeader.element(file.read(16, at: at) ?? [], 0) {
                let isParent = parents.contains(id)
                let next = at + (isParent ? content.lowerBound : content.upperBound)
                let isKnown = isParent || elements.contains(id)
                if isKnown, id > 0xffff {  // a part of the file or of the segment
                    if at < end, end < .max {
                        parts.append("the cluster before byte \(at) lacks \(end - at) bytes")
                    }
                    let isBounded = content.count < MatroskaHeader.unknownSize
                    end =
                        id != MatroskaHeader.cluster
                        ? 0 : isBounded ? at + content.upperBound : .max
                }
                let isInPlace = id > 0xffff || next <= end || at >= end && fillers.contains(id)
                isInterrupted = isInterrupted || isKnown && isInPlace
                if isKnown, isInPlace, next <= file.count {
                    at = next
                    continue
                }
            }
            let next = position(of: UInt32(MatroskaHeader.cluster).bytes, in: file, from: at + 1)
            if next == nil, isInterrupted || file.read(1 << 20, at: at)?.max() == 0 { break }
            parts.append("\((next ?? file.count) - at) bytes from \(at) on are no Matroska")
            (at, end) = (next ?? file.count, 0)
        }
        return parts
    }

    private static func position(
        of pattern: [UInt8], in file: FileBytes, from start: Int
    ) -> Int? {
        var at = start
        while let part = file.read(1 << 20, at: at), part.count >= pattern.count {
            let found = part.indices.first {
                part[$0] == pattern[0] && part[$0...].starts(with: pattern)
            }
            if let found { return at + found }
            at += part.count - pattern.count + 1
        }
        return nil
    }

    // MARK: MPEG-4

    private static let boxes: Set = [
        "ftyp", "styp", "free", "skip", "wide", "moov", "moof", "mdat", "mfra", "sidx", "ssix",
        "meta",
        "uuid", "emsg", "prft", "pdin", "udta",
    ]

    /// Returns the part between the boxes and a later fragment. An incomplete box at the end is no damage.
    private static func movie(_ file: FileBytes) throws(PipelineError) -> [String] {
        var (end, isBroken) = (0, false)
        try file.forEachBox { type, place, size in
            isBroken = isBroken || !boxes.contains(type) || place + size > file.count
            if !isBroken { end = place + size }
        }
        var at = end + 8
        while let found = position(of: Array("moof".utf8), in: file, from: at) {
            if file.read(4, at: found + 8) == Array("mfhd".utf8) {
                return ["\(found - 4 - end) bytes from \(end) on are no MPEG-4"]
            }
            at = found + 4
        }
        return []
    }

    // MARK: MPEG transport stream

    private static let packet = 188

    private static func transportStream(_ file: FileBytes) -> [String] {
        var (strange, lost, at) = (0, 0, 0)
        var counters: [Int: UInt8] = [:]
        while let part = file.read(packet << 12, at: at), part.count >= packet {
            for start in stride(from: 0, through: part.count - packet, by: packet) {
                guard part[start] == 0x47 else {
                    strange += 1
                    continue
                }
                let identifier = Int(part[start + 1] & 0x1f) << 8 | Int(part[start + 2])
                let (hasPayload, counter) = (part[start + 3] & 0x10 != 0, part[start + 3] & 0x0f)
                // A packet may be repeated, and an adaptation field may announce another number.
                let isAnnounced =
                    part[start + 3] & 0x20 != 0 && part[start + 4] > 0
                    && part[start + 5] & 0x80 != 0
                guard hasPayload, identifier != 0x1fff else { continue }
                if let last = counters[identifier], !isAnnounced, counter != last,
                    counter != (last + 1) & 0x0f
                {
                    lost += 1
                }
                counters[identifier] = counter
            }
            at += part.count / packet * packet
        }
        return (strange > 0 ? ["\(strange) packets do not begin with 0x47"] : [])
            + (lost > 0 ? ["packets are lost at \(lost) places"] : [])
    }
}
