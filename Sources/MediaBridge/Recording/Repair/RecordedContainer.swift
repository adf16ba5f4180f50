internal import Glibc

/// The container of a file, determined by its content: a recording may have any name.
struct RecordedContainer: Sendable {
    let container: RecordingContainer
    /// How to read an MPEG-4 file that was not finished; `nil` for any other file.
    var fragments: FragmentReading?

    init(_ container: RecordingContainer, fragments: FragmentReading? = nil) {
        self.container = container
        self.fragments = fragments
    }

    init(of path: String) throws(PipelineError) { self = try Self.find(in: path) }

    private static func find(in path: String) throws(PipelineError) -> RecordedContainer {
        let file = try open(path)
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: 512)
        let count = fread(&head, 1, head.count, file)
        if ferror(file) != 0 {
            throw PipelineError(
                .resourceFailed,
                message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        head = Array(head[..<count])
        if head.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) {
            let isWebM = head.indices.contains { head[$0...].starts(with: Array("webm".utf8)) }
            return RecordedContainer(isWebM ? .webm : .mkv)
        }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) {
            return RecordedContainer(
                .mp4, fragments: try MovieBoxes(of: file, path).fragmentReading)
        }
        if head.first == 0x47, head.count > 188, head[188] == 0x47 { return RecordedContainer(.ts) }
        throw PipelineError(
            .streamFailed,
            message: count == 0
                ? "\(path) is empty: nothing was recorded"
                : "\(path) is not a recording in Matroska, WebM, MPEG-4 or MPEG transport stream",
            advice: count == 0 ? nil : "run file \(path) to identify it")
    }

    /// Opens a regular file only: opening a named pipe would block, and a device has no end.
    private static func open(_ path: String) throws(PipelineError) -> UnsafeMutablePointer<FILE> {
        let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PipelineError(
                .notFound, message: "cannot read \(path): \(String(cString: strerror(errno)))",
                advice: "check the path")
        }
        var about = stat()
        guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw PipelineError(
                .badValue, message: "\(path) is not a file", advice: "a recording on a disk")
        }
        guard let file = fdopen(descriptor, "r") else {
            close(descriptor)
            throw PipelineError(
                .resourceFailed,
                message: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        return file
    }
}
