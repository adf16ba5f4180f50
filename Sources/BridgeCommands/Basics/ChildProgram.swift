internal import Glibc
internal import MediaBasics
internal import MediaBridge

/// A program that this one has started.
struct ChildProgram: Sendable {
    private let process: pid_t
    private let hasOwnGroup: Bool

    /// How a program ended.
    enum End: Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts a program, which is looked for in PATH.
    ///
    /// - Parameters:
    ///   - environment: Variables that replace or join those of this program.
    ///   - log: The file that gets what it prints; `nil` for the terminal.
    ///   - hasOwnGroup: Whether Ctrl-C does not reach it and ``end(within:)`` also ends what it has started.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        log: String? = nil, hasOwnGroup: Bool = false
    ) throws(PipelineError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let log {
            posix_spawn_file_actions_addopen(
                &actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that this program catches or blocks end the other one.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var place = environ
        while let variable = place.pointee {
            let name = String(cString: variable).prefix { $0 != "=" }
            if environment[String(name)] == nil { variables.append(strdup(variable)) }
            place += 1
        }
        variables += environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { variables.forEach { free($0) } }
        var process = pid_t()
        let error = posix_spawnp(&process, program, &actions, &attributes, &words, &variables)
        guard error == 0 else {
            throw PipelineError(
                .notFound, message: "\(program) does not start: \(systemErrorText(error))")
        }
        (self.process, self.hasOwnGroup) = (process, hasOwnGroup)
    }

    /// Returns how the program ended; `nil` while it runs. Must not be called again after that.
    func poll() -> End? {
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return nil }
        let signal = status & 0x7f
        return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: signal)
    }

    /// Waits until the program has ended.
    ///
    /// - Parameter limit: When it is killed; `nil`: never.
    func end(within limit: Duration? = nil) async -> End {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            if let end = poll() { return end }
            if let deadline, ContinuousClock.now >= deadline { send(SIGKILL) }
            // Not cancelled: the program ends by itself.
            await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
    }

    /// Sends a signal: with SIGINT, it ends in order.
    func send(_ signal: Int32) { kill(hasOwnGroup ? -process : process, signal) }
}
