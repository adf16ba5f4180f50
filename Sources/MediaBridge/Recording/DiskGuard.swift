/// Watches that the end of the file still fits on the disk.
struct DiskGuard {
    private let path: String
    private let reserve: Int
    /// Units so far: each needs a place in the file's index.
    private var units = 0
    private var sinceLook = Int.max
    /// Bytes at the last look.
    private(set) var free = Int.max

    /// An entry in an index takes so many bytes at most.
    private static let entry = 40

    init(path: String, reserve: Int) {
        self.path = path
        self.reserve = reserve
    }

    /// The disk has changed.
    mutating func forget() { sinceLook = .max }

    /// Whether the file must end now.
    ///
    /// - Parameter bytes: What goes to the disk next.
    mutating func isShort(of bytes: Int) -> Bool {
        guard reserve > 0 else { return false }
        units += 1
        sinceLook = sinceLook.addingReportingOverflow(bytes).overflow ? .max : sinceLook + bytes
        guard sinceLook > reserve / 8 else { return false }
        sinceLook = 0
        guard let free = DiskSpace.free(around: path) else { return false }
        self.free = free
        return free < reserve + units * Self.entry
    }
}
