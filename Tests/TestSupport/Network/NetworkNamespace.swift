/// A machine on a test's own network: a network namespace with a loopback interface and `v0`, the end of
/// its cable. Nothing in it reaches, or is reached from, the test's process or another network. Thread: any.
public struct NetworkNamespace: Sendable {
    /// The address of `v0`, in IPv4; there is no IPv6.
    public let address: String
    /// A process that is in the namespace as long as it exists.
    let holder: Int32

    /// Starts a program there. It is killed with the network at the latest.
    public func start(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let command = try command(tool, arguments)
        return try ChildProcess(command.tool, command.arguments, environment: environment)
    }

    /// Starts a program there that reads from the test.
    public func startReading(
        _ tool: String, _ arguments: [String] = []
    ) throws -> (ChildProcess, ProgramInput) {
        let command = try command(tool, arguments)
        return try ProgramInput.start(command.tool, command.arguments)
    }

    /// Runs a program there to its end, as ``Tool/run(_:_:environment:within:)`` does.
    public func run(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> ChildProcess.Result {
        try await start(tool, arguments, environment: environment).end(within: deadline)
    }

    /// Runs a program there, as ``Tool/check(_:_:environment:within:)`` does.
    ///
    /// - Returns: What it wrote to standard output.
    @discardableResult
    public func check(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> String {
        let command = try command(tool, arguments)
        return try await Tool.check(
            command.tool, command.arguments, environment: environment, within: deadline)
    }

    /// What starts a program there: the process that nsenter was is then the program itself.
    func command(_ tool: String, _ arguments: [String]) throws -> (
        tool: String, arguments: [String]
    ) {
        let options = ["--target", "\(holder)", "--user", "--net", "--preserve-credentials", "--"]
        return ("nsenter", options + [try Tool.path(of: tool)] + arguments)
    }
}
