/// Watches that the end of each file still fits on the disk.
struct DiskGuard {
    private let path: String
    private let reserve: Int
    private let container: RecordingContainer
    /// What the files that are not complete yet have still to write: their indexes, by file.
    private var indexes: [Int: FileIndex] = [:]
    private var current = 0
    private var sinceLook = Int.max
    /// Bytes at the last look.
    private(set) var free = Int.max

    init(path: String, container: RecordingContainer, reserve: Int) {
        self.path = path
        self.container = container
        self.reserve = reserve
    }

    /// The disk has changed.
    mutating func forget() { sinceLook = .max }

    /// A file begins; the one before may still be on its way to its end.
    mutating func begin(_ file: Int, hasPictures: Bool) {
        current = file
        indexes[file] = FileIndex(container, hasPictures: hasPictures)
    }

    /// A file is complete: what its end took is gone from the disk.
    mutating func complete(_ file: Int) { indexes[file] = nil }

    /// A unit goes into the file that began last.
    mutating func add(_ unit: EncodedUnit) { indexes[current]?.add(unit) }

    /// Bytes that the ends of all files take.
    var pending: Int { indexes.values.reduce(0) { $0 + $1.bytes } }

    /// Whether the file must end now.
    ///
    /// - Parameter bytes: What goes to the disk next.
    mutating func isShort(of bytes: Int) -> Bool {
        guard reserve > 0 else { return false }
        sinceLook = sinceLook.addingReportingOverflow(bytes).overflow ? .max : sinceLook + bytes
        guard sinceLook > reserve / 8 else { return false }
        sinceLook = 0
        guard let free = DiskSpace.free(around: path) else { return false }
        self.free = free
        return free - pending < reserve
    }
}

/// What a muxer writes at the end of a file, as far as it has grown.
private struct FileIndex {
    private let container: RecordingContainer
    private let hasPictures: Bool
    private var entries = 0
    /// Where the last fragment of each stream began.
    private var fragments: [RecordingKind: MediaTime] = [:]

    /// Of GStreamer 1.22's muxers, rounded up: 30 bytes in Matroska, 13 to 19 in MPEG-4.
    private static let entry = 40
    private static let fragment = MediaTime(nanoseconds: 400_000_000)

    init(_ container: RecordingContainer, hasPictures: Bool) {
        self.container = container
        self.hasPictures = hasPictures
    }

    var bytes: Int { entries * Self.entry }

    mutating func add(_ unit: EncodedUnit) {
        switch container {
        // A transport stream has no index.
        case .ts: return
        // Where a player can begin: at key frames, and anywhere in sound without pictures.
        case .mkv, .webm: if unit.isKey, unit.kind == .video || !hasPictures { entries += 1 }
        // Each fragment of each stream.
        case .mp4:
            let isNext = fragments[unit.kind].map { unit.time - $0 >= Self.fragment } ?? true
            guard isNext || (unit.kind == .video && unit.isKey) else { return }
            fragments[unit.kind] = unit.time
            entries += 1
        }
    }
}
