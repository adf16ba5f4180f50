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

extension FileBytes {
    /// Writes bytes at offsets, one step after the other: each reaches the disk before the next. After
    /// a failure the file gets back its size.
    ///
    /// - Parameters:
    ///   - steps: An offset, and the parts of what is written there.
    ///   - onProgress: Called while the disk takes the file's data.
    /// - Returns: The reason if it fails; else `nil`.
    func change(_ steps: [(place: Int, parts: [[UInt8]])], onProgress: () -> Void) -> String? {
        let target = open(path, O_WRONLY | O_CLOEXEC)
        guard target >= 0 else { return systemErrorText() }
        defer { close(target) }
        for step in steps {
            var place = step.place
            for part in step.parts {
                var done = 0
                while done < part.count {
                    let written = part[done...].prefix(Self.portion).withUnsafeBytes {
                        pwrite(target, $0.baseAddress, $0.count, place)
                    }
                    guard written > 0 else {
                        let reason = systemErrorText()
                        ftruncate(target, count)
                        return reason
                    }
                    done += written
                    place += written
                    onProgress()
                }
            }
            do throws(PipelineError) {
                try FileFlush.run(target, path, onProgress: onProgress)
            } catch { return error.message }
        }
        return nil
    }

    /// The maximum number of bytes written at once, so that a slow disk shows progress.
    private static let portion = 1 << 20
}
