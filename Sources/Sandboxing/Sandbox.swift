internal import CSandbox
package import GStreamerKit
internal import Glibc
internal import MediaBasics

/// Confines a process permanently, even against a malicious pipeline string, plugin or damaged
/// file: files are written in one directory only, and no socket is opened.
///
/// Landlock restricts files. A seccomp filter denies sockets of every family (TCP, UDP, the X
/// server, audio servers), changes to a file that Landlock does not check, shared memory and other
/// objects that processes share by number or name, signals to any other process, and all ioctl
/// requests to devices and terminals except a few queries. Capabilities are dropped. None of it can
/// be undone, and every program that the process starts inherits it. The protection does not depend
/// on the kernel's version: the filter covers what the Landlock of older kernels lacks.
///
/// Descriptors that are already open stay open: standard input, output and error. Programs,
/// libraries, plugins and fonts of the system can be read; nothing else outside of the directory
/// can.
package struct Sandbox: Sendable {
    /// The only writable directory; its path contains no symbolic links.
    package let directory: String
    /// Additional files and directories that may be read, including everything in them.
    package var readable: [String] = []

    /// The version of the kernel's Landlock; `nil` if it has none, or if it is disabled.
    package static var kernelVersion: Int? {
        let version = mb_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Creates a sandbox without entering it.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if the directory does not
    ///   exist, or with ``PipelineError/Code/refused`` if it is the root directory.
    package init(directory: String) throws(PipelineError) {
        guard let path = realpath(directory, nil) else {
            throw PipelineError(
                .notFound, message: "\(directory): \(systemErrorText())",
                advice: "create the directory first: mkdir \(directory)")
        }
        defer { free(path) }
        var about = stat()
        guard stat(path, &about) == 0, about.st_mode & S_IFMT == S_IFDIR else {
            throw PipelineError(.notFound, message: "\(directory) is not a directory")
        }
        self.directory = String(cString: path)
        guard self.directory != "/" else {
            throw PipelineError(
                .refused, message: "the sandbox cannot use /: it could write everywhere",
                advice: "use a separate directory")
        }
    }

    /// Confines the calling thread, and every thread and program that it starts from now on.
    /// Threads that already run are not covered for files and keep their capabilities: call it
    /// before there are any, or use ``enterAndRestart(arguments:)``. Programs that it starts cannot
    /// send signals to any process, not even to themselves.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/sandboxUnavailable`` if the kernel
    ///   does not support it. The process may then be partly confined: terminate it.
    package func enter() throws(PipelineError) {
        guard let version = Self.kernelVersion else {
            throw PipelineError(
                .sandboxUnavailable,
                message: "this kernel has no Landlock, so the process cannot be confined to "
                    + "\(directory)",
                advice: "use Linux 5.13 or later with \"landlock\" in /sys/kernel/security/lsm "
                    + "(boot with lsm=landlock,…), or run it in a virtual machine")
        }
        let rules = try LandlockRules(version: version)
        try allow(rules)
        try demand(mb_set_no_new_privileges(), "to set no_new_privs")
        try rules.enter()
        try demand(mb_drop_capabilities(), "to drop the capabilities")
        try demand(mb_seccomp_enter(), "to install the seccomp filter")
    }

    /// Whether this process is in a sandbox. Determined by what the kernel permits, not by a stored
    /// flag.
    package static var isEntered: Bool {
        guard mb_has_no_new_privileges() != 0, mb_has_capabilities() == 0,
            mb_seccomp_refuses_typing() != 0
        else { return false }
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket < 0 else {
            close(socket)
            return false
        }
        guard errno == EACCES else { return false }
        let root = open("/", O_RDONLY | O_DIRECTORY)
        guard root < 0 else {
            close(root)
            return false
        }
        return errno == EACCES
    }

    // MARK: Inside

    private func allow(_ rules: borrowing LandlockRules) throws(PipelineError) {
        try rules.allow(directory, .all)
        for path in Self.systemPaths + readable { try rules.allow(path, .read) }
        for device in ["/dev/zero", "/dev/urandom", "/dev/random"] {
            try rules.allow(device, .read)
        }
        try rules.allow("/dev/null", .readAndWrite)
        // Loaded files stay readable wherever they are: a restart loads them again.
        for path in Self.loadedFiles { try rules.allow(path, .readAndExecute) }
    }

    /// Libraries, plugins and their data; `/proc` for what libraries read about their own threads.
    /// `/proc/self` is not sufficient: the kernel replaces that directory if a thread other than
    /// the first re-executes the program, which voids a rule for it, and libdispatch terminates a
    /// process that cannot read there.
    private static let systemPaths = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
        "/etc/fonts", "/etc/localtime", "/var/cache/fontconfig", "/proc", "/sys/devices/system/cpu",
        "/sys/devices/system/node",
    ]

    /// The files that this process has mapped: the program, its libraries and their loader.
    private static var loadedFiles: [String] {
        guard let file = fopen("/proc/self/maps", "r") else { return [] }
        defer { fclose(file) }
        var found: Set<String> = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            guard let line else { break }
            // address perms offset device inode path
            let words = String(cString: line).split(separator: " ", maxSplits: 5)
            guard words.count == 6 else { continue }
            let path = words[5].drop { $0 == " " }.prefix { $0 != "\n" }
            if path.hasPrefix("/") { found.insert(String(path)) }
        }
        return found.sorted()
    }

    private func demand(_ status: Int32, _ what: String) throws(PipelineError) {
        guard status < 0 else { return }
        throw PipelineError(
            .sandboxUnavailable,
            message: "the kernel refuses \(what): \(systemErrorText(-status))")
    }
}

// MARK: Restart

extension Sandbox {
    /// Confines this program and re-executes it, so that every thread is covered and no file
    /// descriptor stays open except standard input, output and error. The new program sees in
    /// ``isEntered`` that it is inside.
    ///
    /// Updates GStreamer's registry first, because that is not possible inside. Only the
    /// environment variables that GStreamer, its libraries and the locale need are passed on, by
    /// name: no secrets. A terminal is passed on for writing only; if standard input is a terminal,
    /// it becomes empty.
    ///
    /// - Parameter arguments: Arguments of the new program, without its name.
    /// - Throws: ``PipelineError``; otherwise it does not return.
    package func enterAndRestart(arguments: [String]) throws(PipelineError) -> Never {
        try GStreamer.initialize()
        let program = try Self.ownPath()
        let environment = environmentInside()
        var inside = self
        inside.readable += Self.registryPaths
        Self.giveUpTerminalInput()
        try inside.enter()
        // A thread of a pool blocks signals, and the new program would inherit its mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        closefrom(3)
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        execve(program, argv, envp)
        throw PipelineError(.sandboxUnavailable, cannot: "restart inside the sandbox")
    }

    /// The standard descriptors of a terminal share one description that is open for reading and
    /// writing: a process that may print can also read what is typed, and change the shell's
    /// terminal settings. So standard input becomes empty, and the others are reopened for writing
    /// only.
    private static func giveUpTerminalInput() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where isatty(descriptor) != 0 {
            let isInput = descriptor == STDIN_FILENO
            let new = open(
                isInput ? "/dev/null" : "/proc/self/fd/\(descriptor)",
                (isInput ? O_RDONLY : O_WRONLY) | O_NOCTTY)
            guard new >= 0 else { continue }
            dup2(new, descriptor)
            close(new)
        }
    }

    private static func ownPath() throws(PipelineError) -> String {
        guard let path = realpath("/proc/self/exe", nil) else {
            throw PipelineError(
                .sandboxUnavailable, message: "cannot find this program's executable")
        }
        defer { free(path) }
        return String(cString: path)
    }

    private func environmentInside() -> [String: String] {
        var result: [String: String] = [:]
        for name in Self.passed {
            if let value = getenv(name) { result[name] = String(cString: value) }
        }
        result["TMPDIR"] = directory
        result["GST_REGISTRY_UPDATE"] = "no"
        result["GST_REGISTRY_FORK"] = "no"
        return result
    }

    /// Paths of GStreamer's registry and of the user's own plugins.
    private static var registryPaths: [String] {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        var paths = ["GST_REGISTRY", "GST_REGISTRY_1_0"].compactMap { value($0) }
        for name in ["GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH"] {
            paths += (value(name) ?? "").split(separator: ":").map(String.init)
        }
        let home = value("HOME") ?? ""
        paths.append("\(value("XDG_CACHE_HOME") ?? "\(home)/.cache")/gstreamer-1.0")
        return paths
    }
}

// MARK: Environment

extension Sandbox {
    /// The environment variables that are passed into a sandbox, by their full names: a prefix
    /// would also match unrelated variables (`G_TOKEN`, `LANGCHAIN_API_KEY`).
    private static let passed =
        gstreamer + glib + locale
        + [
            "TZ", "PATH", "HOME", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "TERM", "NO_COLOR",
            "COLUMNS",
            "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
        ]

    private static let gstreamer = [
        "GST_DEBUG", "GST_DEBUG_COLOR_MODE", "GST_DEBUG_DUMP_DOT_DIR", "GST_DEBUG_FILE",
        "GST_DEBUG_NO_COLOR", "GST_DEBUG_OPTIONS", "GST_ENABLE_GNOME_DEBUG",
        "GST_PLUGIN_FEATURE_RANK",
        "GST_PLUGIN_LOADING_WHITELIST", "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0",
        "GST_PLUGIN_SCANNER", "GST_PLUGIN_SCANNER_1_0", "GST_PLUGIN_SYSTEM_PATH",
        "GST_PLUGIN_SYSTEM_PATH_1_0", "GST_PRESET_PATH", "GST_REGISTRY", "GST_REGISTRY_1_0",
        "GST_REGISTRY_MODE", "GST_TAG_ENCODING", "GST_AVI_TAG_ENCODING", "GST_ID3_TAG_ENCODING",
        "GST_ID3V1_TAG_ENCODING", "GST_QT_TAG_ENCODING", "GST_SUBTITLE_ENCODING", "GST_TRACERS",
        "ORC_BACKEND", "ORC_CODE", "ORC_DEBUG",
    ]

    private static let glib = [
        "G_DEBUG", "G_ENABLE_DIAGNOSTIC", "G_FILENAME_ENCODING", "G_MESSAGES_DEBUG",
        "G_RANDOM_VERSION", "G_SLICE",
    ]

    private static let locale = [
        "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION",
        "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER",
        "LC_TELEPHONE", "LC_TIME",
    ]
}
