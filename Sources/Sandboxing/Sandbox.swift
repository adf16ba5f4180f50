internal import CSandbox
public import GStreamerKit
internal import Glibc

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
public struct Sandbox: Sendable {
    /// The only writable directory; its path contains no symbolic links.
    public let directory: String
    /// Additional files and directories that may be read, including everything in them.
    public var readable: [String] = []

    /// The version of the kernel's Landlock; `nil` if it has none, or if it is disabled.
    public static var kernelVersion: Int? {
        let version = mb_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Creates a sandbox without entering it.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if the directory does not
    ///   exist, or with ``PipelineError/Code/refused`` if it is the root directory.
    public init(directory: String) throws(PipelineError) {
        guard let path = realpath(directory, nil) else {
            throw PipelineError(
                .notFound, message: "\(directory): \(String(cString: strerror(errno)))",
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
    public func enter() throws(PipelineError) {
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
    public static var isEntered: Bool {
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
        for path in LoadedFiles.paths { try rules.allow(path, .readAndExecute) }
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

    private func demand(_ status: Int32, _ what: String) throws(PipelineError) {
        guard status < 0 else { return }
        throw PipelineError(
            .sandboxUnavailable,
            message: "the kernel refuses \(what): \(String(cString: strerror(-status)))")
    }
}
