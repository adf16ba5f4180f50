internal import Glibc

/// The pattern for the names of numbered files, such as `frames/img%05d.png`. Elements pass it to
/// printf: any other conversion reads arguments that were not passed, `%n` writes to memory, and
/// `%1$c` produces a character that no check of the path has seen.
struct NumberedPath {
    let directory: String
    /// The parts of the name before and after the number.
    let prefix: String
    let suffix: String

    /// `nil` unless the file's name contains exactly one plain `%d`, `%5d` or `%05d`, and no other
    /// `%`.
    init?(_ path: String) {
        let slash = path.lastIndex(of: "/")
        directory = slash.map { String(path[...$0]) } ?? "./"
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        guard !directory.contains("%"), let percent = name.firstIndex(of: "%") else { return nil }
        let rest = name[name.index(after: percent)...]
        let width = rest.prefix { $0.isASCII && $0.isNumber }
        let behind = rest[width.endIndex...]
        guard behind.first == "d", width.count <= 2, !behind.contains("%") else { return nil }
        prefix = String(name[..<percent])
        suffix = String(behind.dropFirst())
    }

    /// The path of one of the files, for checking the path.
    var example: String { directory + prefix + "0" + suffix }

    /// The path of a symbolic link that has the name of one of the files; `nil` if there is none.
    var link: String? {
        guard let stream = opendir(directory) else { return nil }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var about = stat()
            if covers(name), lstat(directory + name, &about) == 0,
                about.st_mode & S_IFMT == S_IFLNK
            {
                return directory + name
            }
        }
        return nil
    }

    /// Returns whether the pattern can produce this name.
    private func covers(_ name: String) -> Bool {
        guard name.utf8.count > prefix.utf8.count + suffix.utf8.count, name.hasPrefix(prefix),
            name.hasSuffix(suffix)
        else { return false }
        let number = name.dropFirst(prefix.count).dropLast(suffix.count)
        return number.allSatisfy { $0.isASCII && $0.isNumber || $0 == "-" || $0 == " " }
    }
}
