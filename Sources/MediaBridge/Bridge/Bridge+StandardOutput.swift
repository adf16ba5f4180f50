internal import Glibc

extension Bridge {
    /// Names of the captures and outputs that write to the standard output of the process: with
    /// `fdsink`, or with a `filesink` whose file is the same as standard output's. The program must
    /// write nothing else there.
    package var writersToStandardOutput: [String] {
        let found = zip(plan.captures.map(\.name), captures.map(\.pipeline))
            .filter { $1.writesToStandardOutput }.map(\.0)
        return found + outputs.filter { $0.output.pipeline.writesToStandardOutput }.map(\.name)
    }
}

extension Pipeline {
    fileprivate var writesToStandardOutput: Bool {
        elements.contains { element in
            switch element.factoryName {
            case "fdsink": element.int("fd") == Int(STDOUT_FILENO)
            case "filesink": element.string("location").map { Self.isStandardOutput($0) } ?? false
            default: false
            }
        }
    }

    /// Whether a path is the file of standard output. False for `/dev/null`, where outputs cannot
    /// mix.
    private static func isStandardOutput(_ path: String) -> Bool {
        var file = stat()
        var output = stat()
        var null = stat()
        guard stat(path, &file) == 0, fstat(STDOUT_FILENO, &output) == 0 else { return false }
        if stat("/dev/null", &null) == 0, file.st_rdev == null.st_rdev, file.st_ino == null.st_ino {
            return false
        }
        return file.st_dev == output.st_dev && file.st_ino == output.st_ino
    }
}
