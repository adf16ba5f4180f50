import Foundation
import Glibc
import Synchronization

/// A child process: its output is collected, and every wait has a deadline.
///
/// Releasing the object does not end the process: call ``end(within:)`` or ``stop()``.
public final class ChildProcess: Sendable {
    /// The result of a process.
    public struct Result: Sendable {
        /// The exit status, or 128 plus the number of the signal that ended the process, as in a
        /// shell.
        public var status: Int32
        public var output: String
        public var errors: String
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    private struct State {
        var output = Data()
        var errors = Data()
        var openPipes = 2
        var status: Int32?
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0

        var isOver: Bool { status != nil && openPipes == 0 }
        var result: Result {
            Result(
                status: status ?? -1, output: String(decoding: output, as: UTF8.self),
                errors: String(decoding: errors, as: UTF8.self))
        }
    }
    private struct Waiter {
        let isMet: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    public let pid: Int32
    private let name: String
    private let state = Mutex(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - tool: A path, or a name that is looked up in `PATH`.
    ///   - environment: Added to the environment of the test.
    ///   - input: A descriptor that becomes the standard input; `nil` is /dev/null. The caller
    ///     closes it.
    /// - Throws: ``Failure`` if the program is not installed; it names the Debian package.
    public init(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        input: Int32? = nil
    ) throws {
        name = ([tool] + arguments).joined(separator: " ")
        let path = try Tool.path(of: tool)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let (output, errors): (Pipe, Pipe)
        (pid, output, errors) = try Self.starting.withLock { _ in
            let (output, errors) = (Self.pipe(), Self.pipe())
            let pid = try Self.spawn(
                path, [tool] + arguments, merged.map { "\($0)=\($1)" }, input: input,
                output: output.fileHandleForWriting.fileDescriptor,
                errors: errors.fileHandleForWriting.fileDescriptor)
            return (pid, output, errors)
        }
        try? output.fileHandleForWriting.close()
        try? errors.fileHandleForWriting.close()
        read(output) { $0.output.append($1) }
        read(errors) { $0.errors.append($1) }
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            change { $0.status = signal == 0 ? (status >> 8) & 0xff : 128 + signal }
        }
    }

    /// Serializes starts. A program that starts at the same time would inherit these pipes, and a
    /// pipe reports its end only when its last holder exits.
    private static let starting = Mutex(())

    /// A pipe that child processes do not inherit. They inherit Foundation's pipes.
    private static func pipe() -> Pipe {
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        return pipe
    }

    /// Not Foundation's Process: its children inherit the caller's signal mask, and a program
    /// started from a task would not react to SIGTERM.
    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String],
        input: Int32?, output: Int32, errors: Int32
    ) throws -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: Int32 = 0
        let error = posix_spawn(&pid, path, &actions, &attributes, argv, envp)
        guard error == 0 else {
            throw Failure(description: "\(path): \(String(cString: strerror(error)))")
        }
        return pid
    }

    /// The standard output so far.
    public var output: String { state.withLock { $0.result.output } }

    /// Sends a signal. Does nothing if the process has ended.
    public func send(signal number: Int32) {
        state.withLock { if $0.status == nil { kill(pid, number) } }
    }

    /// Waits until the program has written `text` to standard output.
    ///
    /// - Throws: ``Failure`` if the process ends, or the deadline expires, before that.
    public func waitForOutput(_ text: String, within deadline: Duration = .hangLimit) async throws {
        try await wait("write \"\(text)\"", within: deadline) {
            $0.isOver || $0.result.output.contains(text)
        }
        guard output.contains(text) else { throw failure("ended without writing \"\(text)\"") }
    }

    /// Waits until `isEnough` accepts the standard output.
    ///
    /// - Parameter what: The goal, for the text of the failure: `write two lines`.
    /// - Throws: ``Failure`` if the process ends, or the deadline expires, before that.
    public func waitForOutput(
        to what: String, until isEnough: @escaping @Sendable (String) -> Bool
    ) async throws {
        try await wait(what, within: .hangLimit) { $0.isOver || isEnough($0.result.output) }
        guard isEnough(output) else { throw failure("ended and did not \(what)") }
    }

    /// The standard error so far.
    public var errors: String { state.withLock { $0.result.errors } }

    /// Waits until `isEnough` accepts the standard error.
    ///
    /// - Parameter what: The goal, for the text of the failure: `write two lines`.
    /// - Throws: ``Failure`` if the process ends, or the deadline expires, before that.
    public func waitForErrors(
        to what: String, within deadline: Duration = .hangLimit,
        until isEnough: @escaping @Sendable (String) -> Bool
    ) async throws {
        try await wait(what, within: deadline) { $0.isOver || isEnough($0.result.errors) }
        guard isEnough(errors) else { throw failure("ended and did not \(what)") }
    }

    /// The peak resident memory of the program in bytes. Readable while the process runs.
    ///
    /// The value of `wait4` is not usable: it includes the memory of the test before `exec`.
    ///
    /// - Throws: ``Failure`` if the process has ended.
    public var peakMemory: Int {
        get throws {
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            let words = line?.split(whereSeparator: \.isWhitespace) ?? []
            guard words.count > 1, let kibibytes = Int(words[1]) else {
                throw failure("has ended; its memory is unknown")
            }
            return kibibytes * 1024
        }
    }

    /// Waits until the process ends; kills it at the deadline.
    ///
    /// - Throws: ``Failure`` at the deadline, with the output so far.
    public func end(within deadline: Duration = .hangLimit) async throws -> Result {
        do {
            try await wait("end", within: deadline) { $0.isOver }
        } catch {
            send(signal: SIGKILL)
            throw error
        }
        return state.withLock { $0.result }
    }

    /// Asks the process to end (SIGTERM), and waits until it has ended.
    @discardableResult
    public func stop(within deadline: Duration = .hangLimit) async throws -> Result {
        send(signal: SIGTERM)
        return try await end(within: deadline)
    }

    // MARK: Inside

    private func wait(
        _ what: String, within deadline: Duration, until isMet: @escaping @Sendable (State) -> Bool
    ) async throws {
        let inTime = await withCheckedContinuation { continuation in
            let id: Int? = state.withLock { state in
                guard !isMet(state) else { return nil }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = Waiter(isMet: isMet, continuation: continuation)
                return state.lastWaiter
            }
            guard let id else { return continuation.resume(returning: true) }
            let seconds = Double(deadline.components.seconds)
            DispatchQueue.global().asyncAfter(deadline: .now() + max(1, seconds)) { [weak self] in
                self?.state.withLock { $0.waiters.removeValue(forKey: id) }?
                    .continuation.resume(returning: false)
            }
        }
        guard inTime else { throw failure("did not \(what) within \(deadline)") }
    }

    private func failure(_ what: String) -> Failure {
        let said = state.withLock { $0.result }
        return Failure(description: "\(name) \(what)\n\(said.output)\n\(said.errors)")
    }

    private func change(_ body: (inout State) -> Void) {
        let met = state.withLock { state in
            body(&state)
            let met = state.waiters.filter { $0.value.isMet(state) }
            for id in met.keys { state.waiters[id] = nil }
            return Array(met.values)
        }
        for waiter in met { waiter.continuation.resume(returning: true) }
    }

    private func read(_ pipe: Pipe, into append: @escaping @Sendable (inout State, Data) -> Void) {
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            // `availableData` traps if a signal interrupts it.
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Glibc.read(handle.fileDescriptor, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                let data = Data(bytes[..<count])
                self?.change { append(&$0, data) }
            }
            self?.change { $0.openPipes -= 1 }
        }
    }
}

/// Runs `body` while a program runs, and kills the program afterwards if it still runs.
public func withChildProcess<R>(
    _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
    _ body: (ChildProcess) async throws -> R
) async throws -> R {
    let child = try ChildProcess(tool, arguments, environment: environment)
    defer { child.send(signal: SIGKILL) }
    return try await body(child)
}
