internal import Glibc
internal import MediaBasics

/// The bytes of a regular file: opening a named pipe would block, and a device has no end.
final class FileBytes {
    let path: String
    private let descriptor: Int32
    /// The size in bytes, when it was opened.
    let count: Int

    init(_ path: String) throws(PipelineError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PipelineError(.notFound, cannot: "read \(path)", advice: "check the path")
        }
        var about = stat()
        let isFile = fstat(descriptor, &about) == 0 && about.st_mode & S_IFMT == S_IFREG
        count = Int(about.st_size)
        guard isFile else {
            throw PipelineError(
                .badValue, message: "\(path) is not a file", advice: "a recording on a disk")
        }
    }

    deinit { close(descriptor) }

    /// Returns the bytes at an offset, fewer at the end of the file; `nil` after an error.
    func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var length = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            length = pread(descriptor, buffer.baseAddress, count, offset)
            filled = max(0, length)
        }
        return length < 0 ? nil : bytes
    }

    /// Calls `body` for each top-level box of an ISO file with its type, offset and size, up to one
    /// that does not fit. The last one may end beyond the file.
    func forEachBox(
        from start: Int = 0, _ body: (String, Int, Int) throws(PipelineError) -> Void
    ) throws(PipelineError) {
        var position = start
        while position <= count - 8 {
            guard let header = read(16, at: position), header.count >= 8 else { break }
            var size = Self.number(header[..<4])
            if size == 1 { size = Self.number(header[8...]) }
            let (next, overflow) = position.addingReportingOverflow(size)
            // A size of zero means: to the end of the file.
            guard size >= 8, !overflow else { break }
            try body(String(decoding: header[4..<8], as: UTF8.self), position, size)
            position = next
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
