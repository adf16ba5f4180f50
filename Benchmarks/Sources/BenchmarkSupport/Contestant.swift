import Foundation

/// A program that is run and measured.
public struct Contestant {
    public let name: String
    private let program: String
    private let arguments: [String]

    public init(_ name: String, _ program: String, _ arguments: [String]) {
        self.name = name
        self.program = program
        self.arguments = arguments
    }

    /// The path of a program that was built with this one, or in the package above.
    public static func sibling(_ name: String, inMainPackage: Bool = false) -> String {
        // Benchmarks/.build/TRIPLE/release/bridge-bench
        let directory = Bundle.main.executableURL!.resolvingSymlinksInPath()
            .deletingLastPathComponent()
        guard inMainPackage else { return directory.appending(path: name).path }
        var root = directory
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appending(path: ".build/release/\(name)").path
    }

    /// Runs the program to its end.
    ///
    /// - Parameter output: A file that gets its standard output; `nil` for this program's own.
    public func run(output: String? = nil) throws -> Usage {
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        argv.append(nil)
        defer { argv.forEach { free($0) } }
        var pid = pid_t()
        let start = ContinuousClock.now
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_addopen(
                &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let failure = posix_spawnp(&pid, program, &actions, nil, argv, environ)
        guard failure == 0 else {
            throw Failure("\(program): \(String(cString: strerror(failure)))")
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0 {
            guard errno == EINTR else {
                throw Failure("wait4: \(String(cString: strerror(errno)))")
            }
        }
        guard status == 0 else { throw Failure("\(name) failed: \(program) \(arguments)") }
        return Usage(
            user: usage.ru_utime.seconds, system: usage.ru_stime.seconds,
            wall: (ContinuousClock.now - start) / .seconds(1), peakKilobytes: usage.ru_maxrss)
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        public init(_ description: String) { self.description = description }
    }
}

/// What a run took, in seconds.
public struct Usage {
    public let user: Double
    public let system: Double
    public let wall: Double
    /// The most memory that was resident at once.
    public let peakKilobytes: Int
    public var cpu: Double { user + system }
}

extension timeval {
    var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
