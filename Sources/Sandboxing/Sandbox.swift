internal import CSandbox
public import GStreamerKit
internal import Glibc

/// What the kernel holds a process to from some moment on, whatever a pipeline string, a plugin or a
/// damaged file makes it do: files are written in one directory alone, and no socket is opened.
///
/// Landlock sees to the files, a seccomp filter to sockets (of every family: neither TCP nor UDP, nor
/// the X server, nor a sound server), to changes of a file that Landlock does not ask about, to memory that
/// processes share by number, to signals to anybody but the process itself, and to every request to a
/// device or terminal but a few questions. Capabilities are given up. None of it can be undone, and all
/// of it passes on to every program that the process starts. What holds does not depend on the kernel's
/// version: what older ones' Landlock lacks, the filter does.
///
/// What was open before stays open: standard input, output and error. Programs, libraries, plugins and
/// fonts of the system can be read; nothing else outside of the directory can.
public struct Sandbox: Sendable {
    /// The one directory that may be written, without symbolic links in its path.
    public let directory: String
    /// Files and directories that may be read besides, with all that is in them.
    public var readable: [String] = []

    /// The version of the kernel's Landlock; `nil` where it has none, or it is switched off.
    public static var kernelVersion: Int? {
        let version = mb_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` where there is no such directory.
    public init(directory: String) throws(PipelineError) {
        guard let path = realpath(directory, nil) else {
            throw PipelineError(
                .notFound, message: "\(directory): \(String(cString: strerror(errno)))",
                advice: "make the directory first: mkdir \(directory)")
        }
        defer { free(path) }
        var about = stat()
        guard stat(path, &about) == 0, about.st_mode & S_IFMT == S_IFDIR else {
            throw PipelineError(.notFound, message: "\(directory): is not a directory")
        }
        self.directory = String(cString: path)
        guard self.directory != "/" else {
            throw PipelineError(
                .refused, message: "a sandbox that may write everywhere is none",
                advice: "give it a directory of its own")
        }
    }

    /// Confines the calling thread, and every thread and program that it starts. Threads that run already
    /// are not covered for files and keep their capabilities: call it before there are any, or use
    /// ``enterAndRestart(arguments:)``. Programs that it starts can send signals to nobody, themselves
    /// included.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/sandboxUnavailable`` where the kernel cannot
    ///   do it. The process may be confined in part then: end it.
    public func enter() throws(PipelineError) {
        guard let version = Self.kernelVersion else {
            throw PipelineError(
                .sandboxUnavailable,
                message: "this kernel has no Landlock, and nothing else would keep a string of "
                    + "somebody else's in \(directory)",
                advice: "a kernel from 5.13 on with \"landlock\" in /sys/kernel/security/lsm "
                    + "(boot it with lsm=landlock,…), or run it in a virtual machine")
        }
        let rules = try LandlockRules(version: version)
        try allow(rules)
        try demand(mb_set_no_new_privileges(), "no new privileges")
        try rules.enter()
        try demand(mb_drop_capabilities(), "a process without capabilities")
        try demand(mb_seccomp_enter(), "a filter of system calls")
    }

    /// Whether this process is in a sandbox: what the kernel answers, not what somebody noted.
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
        // What is loaded stays readable wherever it lies: a restart loads it again.
        for path in LoadedFiles.paths { try rules.allow(path, .readAndExecute) }
    }

    /// Libraries, plugins and their data; `/proc` for what libraries ask about their own threads. Not
    /// `/proc/self` alone: the kernel makes that directory anew when another thread than the first starts
    /// the program anew, a rule for it is void then, and libdispatch ends a process that cannot read there.
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
