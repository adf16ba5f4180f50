import Foundation

/// A program that is run and measured.
struct Contestant {
    let name: String
    private let program: String
    private let arguments: [String]

    init(_ name: String, _ program: String, _ arguments: [String]) {
        self.name = name
        self.program = program
        self.arguments = arguments
    }

    /// The path of a program that was built with this one, or in the package above.
    static func sibling(_ name: String, inMainPackage: Bool = false) -> String {
        // Benchmarks/.build/TRIPLE/release/bridge-bench
        let directory = Bundle.main.executableURL!.resolvingSymlinksInPath()
            .deletingLastPathComponent()
        guard inMainPackage else { return directory.appending(path: name).path }
        var root = directory
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appending(path: ".build/release/\(name)").path
    }

    /// Runs the program to its end.
    func run() throws -> Usage {
        var argv: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        argv.append(nil)
        defer { argv.forEach { free($0) } }
        var pid = pid_t()
        let start = ContinuousClock.now
        let failure = posix_spawnp(&pid, program, nil, nil, argv, environ)
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
            wall: (ContinuousClock.now - start) / .seconds(1))
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

/// What a run took, in seconds.
struct Usage {
    let user: Double
    let system: Double
    let wall: Double
    var cpu: Double { user + system }
}

extension timeval {
    var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
