internal import CSandbox
internal import GStreamerKit
internal import Glibc
internal import MediaBasics

/// A Landlock rule set under construction: everything that the kernel's version handles is denied,
/// except what is allowed explicitly.
struct LandlockRules: ~Copyable {
    private let set: Int32
    private let handled: UInt64

    /// Rights on files, as `linux/landlock.h` numbers them.
    private enum Right {
        static let execute: UInt64 = 1 << 0
        static let writeFile: UInt64 = 1 << 1
        static let readFile: UInt64 = 1 << 2
        static let readDirectory: UInt64 = 1 << 3
        static let removeDirectory: UInt64 = 1 << 4
        static let removeFile: UInt64 = 1 << 5
        static let makeDirectory: UInt64 = 1 << 7
        static let makeFile: UInt64 = 1 << 8
        /// Since versions 2, 3 and 5.
        static let refer: UInt64 = 1 << 13
        static let truncate: UInt64 = 1 << 14
        static let deviceControl: UInt64 = 1 << 15
        /// All rights of version 1.
        static let first: UInt64 = (1 << 13) - 1
        /// The rights that can be allowed on anything but a directory.
        static let ofFiles = execute | writeFile | readFile | truncate | deviceControl
    }

    /// Permitted access to a path and everything below it.
    struct Access {
        fileprivate let rights: UInt64
        static let read = Access(rights: Right.readFile | Right.readDirectory)
        static let readAndExecute = Access(rights: Right.readFile | Right.execute)
        static let readAndWrite = Access(
            rights: Right.readFile | Right.writeFile | Right.truncate)
        /// Files and directories; devices, sockets and symbolic links cannot be created.
        static let all = Access(
            rights: Right.readFile | Right.readDirectory | Right.writeFile | Right.truncate
                | Right.makeFile | Right.makeDirectory | Right.removeFile | Right.removeDirectory
                | Right.refer)
    }

    /// O_PATH, which glibc declares only with _GNU_SOURCE.
    private static let pathOnly: Int32 = 0o10000000

    init(version: Int) throws(PipelineError) {
        var handled = Right.first
        if version >= 2 { handled |= Right.refer }
        if version >= 3 { handled |= Right.truncate }
        if version >= 5 { handled |= Right.deviceControl }
        self.handled = handled
        // TCP, which the seccomp filter denies as well; abstract sockets and signals to other
        // processes.
        var rules = MBLandlockRules(
            file_system: handled, network: version >= 4 ? 3 : 0, scopes: version >= 6 ? 3 : 0)
        set = mb_landlock_create(&rules, Int32(version))
        guard set >= 0 else { throw Self.failure("a ruleset", -set) }
    }

    deinit { if set >= 0 { close(set) } }

    /// Adds a rule for a path; does nothing if the path does not exist.
    func allow(_ path: String, _ access: Access) throws(PipelineError) {
        let descriptor = open(path, Self.pathOnly | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var about = stat()
        guard fstat(descriptor, &about) == 0 else { return }
        var rights = access.rights & handled
        if about.st_mode & S_IFMT != S_IFDIR { rights &= Right.ofFiles }
        let status = mb_landlock_allow(set, descriptor, rights)
        guard status == 0 else { throw Self.failure("a rule for \(path)", -status) }
    }

    func enter() throws(PipelineError) {
        let status = mb_landlock_restrict(set)
        guard status == 0 else { throw Self.failure("to enforce the ruleset", -status) }
    }

    private static func failure(_ what: String, _ number: Int32) -> PipelineError {
        PipelineError(
            .sandboxUnavailable,
            message: "Landlock refuses \(what): \(systemErrorText(number))")
    }
}
