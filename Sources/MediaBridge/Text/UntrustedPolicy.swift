internal import Glibc

/// Restricts untrusted strings to computing, and to reading and writing files in one directory.
///
/// ```swift
/// var plan = BridgePlan(capture: theirCapture, outputs: [theirOutput])
/// plan.untrusted = try UntrustedPolicy(directory: "/srv/jobs/42")
/// let report = try await Bridge(plan).run()
/// ```
///
/// A string passes if every element in it, at any depth, is on a list of elements that only compute,
/// and every property that can name a file names one in the directory. The check is made three times: on the tokens of the string, before any element is created; on the elements
/// that GStreamer creates, still in NULL; and on every element that is added later. Anything else
/// is an error with the code ``PipelineError/Code/refused``.
///
/// The policy checks what a string *asks* for. It does not control what a damaged file makes a
/// decoder do: a program that also accepts untrusted files should restart itself in the kernel's sandbox
/// as well (``restartInSandbox(arguments:readable:)``), as `gst-bridge run --untrusted` does.
///
/// Relative paths are resolved against the working directory of the process, so they are inside
/// only if that directory is. Thread: any.
public struct UntrustedPolicy: Sendable, ElementFilter {
    /// The allowed directory, with all symbolic links in its path resolved.
    public let directory: String

    /// Creates a policy for one directory.
    ///
    /// - Throws: ``PipelineError`` if the directory does not exist or is the root.
    public init(directory: String) throws(PipelineError) {
        self.directory = try Sandbox(directory: directory).directory
    }

    /// Checks a file that the program itself writes for an untrusted client.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/refused`` if it is not in the
    ///   directory after all symbolic links are resolved.
    public func check(path: String) throws(PipelineError) {
        guard ResolvedPath(path).isInside(directory) else { throw outside(path) }
    }

    /// Whether this process is in a sandbox. Determined by what the kernel permits, not by a stored flag.
    public static var isSandboxed: Bool { Sandbox.isEntered }

    /// Confines this program to ``directory``, even against a malicious plugin or a damaged file, and re-executes
    /// it. The new program sees in ``isSandboxed`` that it is inside.
    ///
    /// ```swift
    /// let policy = try UntrustedPolicy(directory: "/srv/jobs/42")
    /// if !UntrustedPolicy.isSandboxed {  // at the beginning of the program
    ///     try policy.restartInSandbox(arguments: Array(CommandLine.arguments.dropFirst()))
    /// }
    /// ```
    ///
    /// Landlock restricts files, a seccomp filter denies sockets and other ways out of the process, and capabilities
    /// are dropped: see <doc:Untrusted>. No file descriptor stays open except standard input, output and error. Of
    /// the environment, only the variables that GStreamer, its libraries and the locale need are passed on.
    ///
    /// - Parameters:
    ///   - arguments: Arguments of the new program, without its name.
    ///   - readable: Further files and directories that may be read, including everything in them. The programs,
    ///     libraries, plugins and fonts of the system can be read in any case.
    /// - Throws: ``PipelineError``: ``PipelineError/Code/sandboxUnavailable`` if the kernel does not support it.
    ///   Otherwise it does not return.
    public func restartInSandbox(
        arguments: [String], readable: [String] = []
    ) throws(PipelineError) -> Never {
        var sandbox = try Sandbox(directory: directory)
        sandbox.readable = readable
        try sandbox.enterAndRestart(arguments: arguments)
    }

    private func outside(_ path: String, of element: Element? = nil) -> PipelineError {
        Self.refused(
            "\"\(path)\" is outside \(directory), the only directory for files",
            advice: "a path in that directory", at: element?.path)
    }

    // MARK: ElementFilter

    /// Checks an element: its factory, its text properties and the elements that its properties
    /// hold. Sets the file names that it would otherwise choose itself outside of the directory.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/refused``.
    package func judge(_ element: Element) throws(PipelineError) {
        let factory = element.factoryName
        guard allows(factory: factory, plugin: element.pluginName) || element.isPlainBin else {
            throw Self.refusal(of: factory.isEmpty ? element.path : factory, at: element.path)
        }
        for property in element.textProperties { try judge(property, of: element) }
        for inner in element.propertyElements { try judge(inner) }
        try confine(element)
    }

    // MARK: Strings

    /// Checks the tokens of a string before any element is created: some elements act when they are
    /// created, or when a property is set. The tokens are those of GStreamer's own lexer.
    func judge(text: String) throws(PipelineError) {
        for token in PipelineText(text).tokens {
            switch token {
            case .identifier(let name), .bin(let name):
                // An unknown element is reported by the parser.
                guard let factory = try ElementFactory.find(name) else { continue }
                guard allows(factory: factory.name, plugin: factory.plugin) else {
                    throw Self.refusal(of: factory.name)
                }
            case .location(let location):
                throw Self.refused(
                    "a URI creates elements that cannot be checked: \"\(location)\"",
                    advice: "filesrc or filesink with a location in \(directory)")
            case .preset(let preset):
                throw Self.refused(
                    "a preset sets properties that cannot be checked: \"\(preset)\"",
                    advice: "set the properties in the string")
            case .assignment, .reference, .link, .other: continue
            }
        }
    }

    /// Checks every element of a parsed pipeline, which must be in NULL, and every element added
    /// later.
    func judge(_ pipeline: Pipeline) throws(PipelineError) {
        for element in pipeline.elements { try judge(element) }
        pipeline.watchElements(self)
    }

    private static func refusal(of name: String, at path: String? = nil) -> PipelineError {
        refused(
            "\"\(name)\" is not among the elements that an untrusted pipeline may use",
            advice: "elements that only compute, or filesrc, filesink, multifilesrc and "
                + "multifilesink in the directory", at: path)
    }

    private static func refused(
        _ message: String, advice: String, at path: String? = nil
    ) -> PipelineError {
        PipelineError(.refused, element: path, message: message, advice: advice)
    }
}

// MARK: Properties

/// Checks of string properties: each is known to be harmless, or is a file path, or is refused.
extension UntrustedPolicy {
    /// Text and numbers that no element uses as a file, a host or a command.
    private static let harmless: Set<String> = [
        "text", "font-desc", "subtitle-font-desc", "subtitle-encoding", "datetime-format",
        "time-format", "pattern", "format", "tags", "writing-app", "metadatacreator", "encoder",
        "boundary", "colorimetry", "target-timecode-string", "dump-separator", "gop-timecode",
        "layer-rates", "vendor", "rc-eq",
    ]

    /// Paths of files that are read or written.
    private static let paths: Set<String> = [
        "location", "temp-template", "faststart-file", "moov-recovery-file", "multipass-cache-file",
    ]

    private func judge(_ property: ElementProperty, of element: Element) throws(PipelineError) {
        if Self.harmless.contains(property.name) { return }
        if element.factoryName == "dataurisrc", property.name == "uri" { return }  // its own bytes
        let isSet =
            property.text != nil && property.text != "" && property.text != property.defaultText
        if Self.paths.contains(property.name) {
            // Properties that `confine` sets need no check unless the string set them.
            if !isSet, Self.confined.contains(property.name) { return }
            guard let path = property.text, !path.isEmpty else { return }
            try judge(path: path, of: element)
        } else if isSet {
            throw Self.refused(
                "\"\(property.name)\" of \(element.factoryName) is not allowed in an untrusted "
                    + "pipeline", advice: "remove it", at: element.path)
        }
    }

    private func judge(path: String, of element: Element) throws(PipelineError) {
        var requested = path
        if Self.numbering.contains(element.factoryName), path.contains("%") {
            guard let numbered = NumberedPath(path) else {
                throw Self.refused(
                    "\"\(path)\" is not the name of numbered files, which has one %05d in the file "
                        + "name and no other %", advice: "a name like img%05d.png",
                    at: element.path)
            }
            if let link = numbered.link {
                throw Self.refused(
                    "\"\(link)\" is a link, and one of the files that \"\(path)\" names",
                    advice: "remove it, or use another name", at: element.path)
            }
            requested = numbered.example
        }
        // Bytes that are not valid UTF-8 were decoded to this character, so the real path is
        // another one.
        guard !requested.unicodeScalars.contains("\u{fffd}"),
            ResolvedPath(requested).isInside(directory)
        else { throw outside(path, of: element) }
    }

    /// Elements that insert a number into their location.
    private static let numbering: Set<String> = [
        "multifilesrc", "multifilesink", "imagesequencesrc",
    ]

    /// Files that elements would otherwise name themselves, in the working directory or among the
    /// system's temporary files.
    private static let confined: Set<String> = ["multipass-cache-file", "faststart-file"]

    /// Sets these properties to names in the directory.
    private func confine(_ element: Element) throws(PipelineError) {
        for property in element.textProperties where Self.confined.contains(property.name) {
            let isOwn = property.text == nil || property.text == property.defaultText
            guard isOwn || property.text == "" else { continue }
            // An element may have any name, including one with the characters of a path.
            let name = String(element.name.map { $0.isLetter || $0.isNumber ? $0 : "-" })
            element.set(literally: property.name, "\(directory)/.\(name)-\(property.name)")
        }
    }
}

// MARK: Paths

/// The pattern for the names of numbered files, such as `frames/img%05d.png`. Elements pass it to
/// printf: any other conversion reads arguments that were not passed, `%n` writes to memory, and
/// `%1$c` produces a character that no check of the path has seen.
private struct NumberedPath {
    let directory: String
    /// The parts of the name before and after the number.
    let prefix: String
    let suffix: String

    /// `nil` unless the file's name contains exactly one plain `%d`, `%5d` or `%05d`, and no other
    /// `%`.
    init?(_ path: String) {
        guard let parts = path.wholeMatch(of: /([^%]*\/)?([^%\/]*)%[0-9]{0,2}d([^%\/]*)/) else {
            return nil
        }
        directory = parts.1.map(String.init) ?? "./"
        (prefix, suffix) = (String(parts.2), String(parts.3))
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

/// A path with every symbolic link resolved as the kernel would, even if its last component does
/// not exist yet.
private struct ResolvedPath {
    /// `nil` if the links form a loop.
    let path: String?

    init(_ path: String) { self.path = Self.resolve(path) }

    func isInside(_ directory: String) -> Bool { path?.hasPrefix(directory + "/") == true }

    private static let linksAtMost = 40

    private static func resolve(_ path: String) -> String? {
        var path = path
        if !path.hasPrefix("/") {
            guard let current = getcwd(nil, 0) else { return nil }
            defer { free(current) }
            path = String(cString: current) + "/" + path
        }
        var waiting = parts(of: path)
        var done: [Substring] = []
        var links = 0
        while let part = waiting.popLast() {
            if part == ".." {
                _ = done.popLast()
                continue
            }
            let here = "/" + (done + [part]).joined(separator: "/")
            guard let target = target(of: here) else {
                done.append(part)
                continue
            }
            links += 1
            guard links <= linksAtMost else { return nil }
            if target.hasPrefix("/") { done = [] }
            waiting += parts(of: target)
        }
        return "/" + done.joined(separator: "/")
    }

    /// Returns the components of a path in reverse order.
    private static func parts(of path: String) -> [Substring] {
        path.split(separator: "/").filter { $0 != "." }.reversed()
    }

    /// Returns the target of a symbolic link; `nil` if `path` is not a link or does not exist.
    private static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
