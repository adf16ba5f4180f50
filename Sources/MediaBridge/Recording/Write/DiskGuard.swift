internal import MediaBasics

/// Checks that there is enough free space on the disk to complete each file.
struct DiskGuard {
    private let directory: String
    private let reserve: Int
    private let container: RecordingContainer
    /// By file: the size of the index of each file that is not complete yet, which is still to be
    /// written.
    private var indexes: [Int: FileIndex] = [:]
    private var current = 0
    private var sinceLook = Int.max
    /// Free bytes at the last check.
    private(set) var free = Int.max
    /// Whether the last check has not been used by ``isFound(below:)``.
    private var isNews = false

    init(directory: String, container: RecordingContainer, reserve: Int) {
        self.directory = directory
        self.container = container
        self.reserve = reserve
    }

    /// Forces a new check of the disk, because its free space has changed.
    mutating func forget() { sinceLook = .max }

    /// Notes that a file begins; the previous file may still be being completed.
    mutating func begin(_ file: Int, hasPictures: Bool) {
        current = file
        indexes[file] = FileIndex(container, hasPictures: hasPictures)
    }

    /// Notes that a file is complete: its index is on the disk.
    mutating func complete(_ file: Int) { indexes[file] = nil }

    /// Adds a unit to the file that was begun last.
    mutating func add(_ unit: EncodedUnit) { indexes[current]?.add(unit) }

    /// Bytes that are still to be written at the ends of all files.
    var pending: Int { indexes.values.reduce(0) { $0 + $1.bytes } }

    /// Returns whether the file must end now.
    ///
    /// - Parameter bytes: The number of bytes written to the disk next.
    mutating func isShort(of bytes: Int) -> Bool {
        guard reserve > 0 else { return false }
        sinceLook = sinceLook.addingReportingOverflow(bytes).overflow ? .max : sinceLook + bytes
        guard sinceLook > reserve / 8 else { return false }
        look()
        return free - pending < reserve
    }

    /// Returns whether a check since the last call found less than `least` bytes free.
    mutating func isFound(below least: Int) -> Bool {
        defer { isNews = false }
        return isNews && free < least
    }

    /// Checks the disk.
    mutating func look() {
        (sinceLook, isNews) = (0, true)
        free = DiskSpace.free(in: directory) ?? .max
    }
}

/// Estimates what is written at the end of a file.
private struct FileIndex {
    private let container: RecordingContainer
    private let hasPictures: Bool
    private var entries = 0
    private var samples = 0
    /// The time when the last fragment of each stream began.
    private var fragments: [RecordedStream: MediaTime] = [:]

    /// Bytes per index entry, rounded up. GStreamer 1.22's muxers write 30 bytes in Matroska and 13
    /// to 19 in MPEG-4.
    private static let entry = 40
    private static let fragment = MediaTime(nanoseconds: 400_000_000)
    /// Bytes for each unit in the index of an mp4: its size, its duration, its decoding offset, and
    /// whether it is a key frame.
    private static let sample = 24

    init(_ container: RecordingContainer, hasPictures: Bool) {
        self.container = container
        self.hasPictures = hasPictures
    }

    var bytes: Int { entries * Self.entry + samples * Self.sample }

    mutating func add(_ unit: EncodedUnit) {
        switch container.structure {
        // These have no index.
        case .transportStream, .flac, .stream: return
        // One entry for each seek point: key frames, or all audio units if there is no video.
        case .matroska: if unit.isKey, unit.kind == .video || !hasPictures { entries += 1 }
        // One entry for each fragment of each stream, and for each unit.
        case .movie:
            samples += 1
            let isNext = fragments[unit.stream].map { unit.time - $0 >= Self.fragment } ?? true
            guard isNext || (unit.kind == .video && unit.isKey) else { return }
            fragments[unit.stream] = unit.time
            entries += 1
        }
    }
}
