internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// Generates the names of a recording's files, and finds those of earlier recordings.
///
/// Numbered: `out-00000.mkv`, `out-00001.mkv` …. Otherwise `out.mkv`, and numbers only for further
/// files of the same name. With dates, conversions such as `%H` are replaced by the time when the
/// file begins.
package struct RecordingNames: Sendable {
    package let path: String
    let isNumbered: Bool
    /// The clock of the dates; `nil` if the path is literal.
    private let dates: WallClock?

    /// - Parameters:
    ///   - isNumbered: Whether the first file has a number too; ignored with dates.
    ///   - dates: The clock of the dates; `nil`: the path is literal. A path without `%` always is.
    package init(_ path: String, isNumbered: Bool, dates: WallClock? = nil) {
        self.path = path
        self.dates = path.contains("%") ? dates : nil
        self.isNumbered = isNumbered && self.dates == nil
    }

    /// Whether each file's name is chosen independently of the number of files before it.
    package var isDated: Bool { dates != nil }

    /// Returns the path of a file: `out-00003.mkv` for index 3; `out.mkv` for an unnumbered first
    /// file.
    ///
    /// - Parameter time: When the file begins, in nanoseconds since 1970.
    func path(at index: Int, _ time: Int64 = 0) -> String {
        let path = dates?.text(of: time, format: self.path) ?? self.path
        guard isNumbered || index > 0 else { return path }
        let digits = String(index)
        let number = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        let (stem, ending) = Self.parts(of: path)
        return "\(stem)-\(number)\(ending)"
    }

    /// Returns the path of a file that begins now: with the date, or with the number after the
    /// highest one that exists.
    package func nextPath() -> String {
        guard let dates else { return path(at: firstFreeIndex) }
        let time = dates.now()
        var index = 0
        while access(path(at: index, time), F_OK) == 0 { index += 1 }
        return path(at: index, time)
    }

    /// A file of an earlier recording.
    struct Existing {
        let path: String
        let bytes: Int
    }

    /// Returns the files of earlier recordings, oldest first: with dates, in the order in which
    /// they were last changed, otherwise in that of their numbers. No symbolic link is followed.
    func existing() -> [Existing] {
        guard isDated else {
            return numbers().sorted().compactMap { index in
                let path = path(at: index)
                return FileSize.of(path).map { Existing(path: path, bytes: $0) }
            }
        }
        let files = found(in: directory, Array(components.dropFirst(literalCount)))
        return files.compactMap { path -> (changed: Int64, file: Existing)? in
            guard let bytes = FileSize.of(path) else { return nil }
            let file = Existing(path: path, bytes: bytes)
            return (FileSize.lastChange(of: path) ?? 0, file)
        }.sorted { ($0.changed, $0.file.path) < ($1.changed, $1.file.path) }.map(\.file)
    }

    /// The number after the highest one of an existing file.
    var firstFreeIndex: Int { numbers().max().map { $0 + 1 } ?? 0 }

    /// Returns the numbers of the existing files.
    private func numbers() -> [Int] {
        let (stem, ending) = Self.parts(of: components[components.count - 1])
        let start = "\(stem)-"
        let length = strlen(start)
        var numbers: [Int] = []
        Self.forEachFile(in: directory) { name in
            guard strncmp(name, start, length) == 0 else { return }
            let digits = name + length
            let count = strspn(digits, "0123456789")
            // Numbers have five digits, or more without a zero in front. Larger ones do not fit.
            guard (5...18).contains(count), count == 5 || digits[0] != CChar(UInt8(ascii: "0")),
                strcmp(digits + count, ending) == 0
            else { return }
            numbers.append(strtol(digits, nil, 10))
        }
        return numbers
    }

    // MARK: Directories

    /// The deepest directory whose name is the same for all files.
    var directory: String {
        guard isDated else { return DiskSpace.directory(of: path) }
        let fixed = components.prefix(literalCount).joined(separator: "/")
        if fixed.isEmpty { return path.hasPrefix("/") ? "/" : "." }
        return Self.unescaped(fixed)
    }

    private var components: [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// The number of leading components that are directories without a conversion.
    private var literalCount: Int {
        components.dropLast().prefix { !DateConversion.isIn($0) }.count
    }

    /// Creates the directory of a file whose name has dates.
    package func createDirectory(of path: String) throws(PipelineError) {
        if isDated { try Self.create(DiskSpace.directory(of: path)) }
    }

    private static func create(_ directory: String) throws(PipelineError) {
        guard mkdir(directory, 0o777) != 0, errno != EEXIST else { return }
        if errno == ENOENT, case let above = DiskSpace.directory(of: directory), above != directory
        {
            try create(above)
            if mkdir(directory, 0o777) == 0 || errno == EEXIST { return }
        }
        throw PipelineError(cannot: "create the directory \"\(directory)\"")
    }

    /// What became of a file that was to be removed.
    enum Removal {
        case removed
        /// It was not there any more.
        case missing
        /// Another recording is writing it.
        case busy
    }

    /// Removes a file, and the directories that dates named if they are empty. Does not follow a symbolic link to
    /// leave the recording's directory.
    ///
    /// - Throws: ``PipelineError`` if it cannot be removed.
    func remove(_ path: String) throws(PipelineError) -> Removal {
        let below = path.split(separator: "/").suffix(components.count - literalCount).map(
            String.init)
        guard let name = below.last else { return .missing }
        var directories = [open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)]
        defer { for directory in directories where directory >= 0 { close(directory) } }
        for name in below.dropLast() where directories[0] >= 0 {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let next = openat(directories[0], name, flags)
            guard next >= 0 || ![ENOTDIR, ELOOP].contains(errno) else {
                throw PipelineError(
                    .resourceFailed,
                    message:
                        "cannot remove \"\(path)\": a directory in its path is a symbolic link",
                    advice: "remove such files yourself")
            }
            directories.insert(next, at: 0)
        }
        guard directories[0] >= 0 else { return try Self.failure(path) }
        // A recording holds a lock on the file that it writes.
        let file = openat(directories[0], name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        if file >= 0, flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return .busy }
        guard unlinkat(directories[0], name, 0) == 0 else { return try Self.failure(path) }
        for (name, above) in zip(below.dropLast().reversed(), directories.dropFirst()) {
            guard unlinkat(above, name, AT_REMOVEDIR) == 0 else { break }
        }
        return .removed
    }

    private static func failure(_ path: String) throws(PipelineError) -> Removal {
        guard errno != ENOENT else { return .missing }
        throw PipelineError(
            cannot: "remove \"\(path)\"", advice: "free space on the disk, or permit the removal")
    }

    /// Returns the files below a directory whose names the patterns describe.
    private func found(in directory: String, _ patterns: [String]) -> [String] {
        guard let pattern = patterns.first else { return [] }
        let isFile = patterns.count == 1
        var names: [String] = []
        Self.forEachFile(in: directory, isFile ? S_IFREG : S_IFDIR) { name in
            let name = String(cString: name)
            if Self.matches(name, pattern, isFile: isFile) { names.append(name) }
        }
        return names.flatMap {
            let path = directory == "." ? $0 : directory == "/" ? "/\($0)" : "\(directory)/\($0)"
            return isFile ? [path] : found(in: path, Array(patterns.dropFirst()))
        }
    }

    /// Calls `body` with the name of each entry of a kind; symbolic links are of another kind.
    private static func forEachFile(
        in directory: String, _ kind: mode_t = S_IFREG, _ body: (UnsafePointer<CChar>) -> Void
    ) {
        guard let stream = opendir(directory) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // `d_name` is longer than the field that Swift imports.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = UnsafeRawPointer(entry).advanced(by: offset)
                .assumingMemoryBound(to: CChar.self)
            var type = mode_t(entry.pointee.d_type) << 12
            var status = stat()
            if type == 0, fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
                type = status.st_mode & S_IFMT
            }
            if type == kind { body(name) }
        }
    }

    /// Returns whether a pattern describes a name, also with a number before the ending.
    private static func matches(_ name: String, _ pattern: String, isFile: Bool) -> Bool {
        var rest = name[...]
        let (stem, ending) = isFile ? parts(of: pattern) : (pattern, "")
        guard DateConversion.strip(stem, from: &rest) else { return false }
        if rest.first == "-", isFile {
            let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            if digits.count >= 5 { rest = rest.dropFirst(1 + digits.count) }
        }
        return DateConversion.strip(ending, from: &rest) && rest.isEmpty
    }

    /// Splits a path in front of its ending.
    private static func parts(of path: String) -> (stem: String, ending: String) {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: ".") else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    private static func unescaped(_ text: String) -> String {
        text.split(separator: "%%", omittingEmptySubsequences: false).joined(separator: "%")
    }
}

// MARK: - Conversions

/// The conversions that the name of a recording may contain: those of strftime whose values are
/// valid in a file name.
private struct DateConversion {
    /// The number of digits; zero for another form.
    let digits: Int
    /// The length of time in which the value does not change, in seconds.
    let unit: Int

    static let all: [Character: DateConversion] = [
        "Y": .init(digits: 4, unit: 31_536_000), "y": .init(digits: 2, unit: 31_536_000),
        "G": .init(digits: 4, unit: 31_536_000), "m": .init(digits: 2, unit: 2_419_200),
        "V": .init(digits: 2, unit: 604_800), "d": .init(digits: 2, unit: 86_400),
        "j": .init(digits: 3, unit: 86_400), "u": .init(digits: 1, unit: 86_400),
        "H": .init(digits: 2, unit: 3600), "M": .init(digits: 2, unit: 60),
        "S": .init(digits: 2, unit: 1), "f": .init(digits: 6, unit: 1),
        "s": .init(digits: 0, unit: 1), "z": .init(digits: 0, unit: .max),
        "%": .init(digits: 0, unit: .max),
    ]

    /// Returns whether a text contains a conversion other than `%%`.
    static func isIn(_ text: some StringProtocol) -> Bool {
        letters(of: String(text)).contains { $0 != "%" }
    }

    /// Returns the letters after each `%`; a space for a `%` at the end.
    static func letters(of text: String) -> [Character] {
        var letters: [Character] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: start)...]
            letters.append(rest.popFirst() ?? " ")
        }
        return letters
    }

    /// Removes from the beginning of `name` what a pattern describes; false if it does not.
    static func strip(_ pattern: String, from name: inout Substring) -> Bool {
        var pattern = pattern[...]
        while let next = pattern.popFirst() {
            guard next == "%", let letter = pattern.popFirst(), letter != "%" else {
                guard name.popFirst() == next else { return false }
                continue
            }
            if letter == "z", let sign = name.popFirst(), !"+-".contains(sign) { return false }
            let count = letter == "z" ? 4 : all[letter]?.digits ?? 0
            let digits = name.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty, digits.count >= count else { return false }
            name = name.dropFirst(count > 0 ? count : digits.count)
        }
        return true
    }
}

extension RecordingNames {
    /// Throws if a path with dates cannot name the files of a recording.
    ///
    /// - Parameters:
    ///   - length: The duration of each file; `nil` if it is not limited.
    ///   - time: The time now, in nanoseconds since 1970.
    func check(length: Duration?, at time: Int64) throws(PipelineError) {
        guard isDated else { return }
        let letters = DateConversion.letters(of: path)
        if let letter = letters.first(where: { DateConversion.all[$0] == nil }) {
            let known = DateConversion.all.keys.filter { $0 != "%" }.map { "%\($0)" }.sorted()
            throw bad(
                "\"%\(letter)\" is not part of a date",
                advice: "\(known.joined(separator: " ")), or %% for a percent sign; files of equal "
                    + "names are numbered without it")
        }
        guard !components.dropFirst(literalCount).contains("..") else {
            throw bad("\"..\" after a date leaves the directory", advice: "a path without ..")
        }
        let unit = letters.compactMap { DateConversion.all[$0]?.unit }.min() ?? .max
        if let length, length < .seconds(min(unit, 1 << 40)) {
            throw bad(
                "files of \(length) begin within the same \(Self.name(of: unit)), and would get the "
                    + "same name",
                advice: "add %H%M%S")
        }
        guard let path = dates?.text(of: time, format: path) else {
            throw bad("it has no date", advice: "check the system's clock")
        }
        // With room for a number.
        guard path.split(separator: "/").allSatisfy({ $0.utf8.count <= Int(NAME_MAX) - 8 }),
            path.utf8.count < Int(PATH_MAX) - 8
        else { throw bad("a name in it is too long", advice: "names of at most 247 bytes") }
    }

    private func bad(_ reason: String, advice: String) -> PipelineError {
        PipelineError(
            .badValue, message: "\"\(path)\" cannot name recordings: \(reason)", advice: advice)
    }

    private static func name(of unit: Int) -> String {
        switch unit {
        case 60: "minute"
        case 3600: "hour"
        case 86_400: "day"
        case 604_800: "week"
        case 2_419_200: "month"
        default: "year"
        }
    }
}
