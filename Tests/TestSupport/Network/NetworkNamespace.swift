/// A machine on a test's network: a network namespace with a loopback interface and `v0`, its end
/// of the cable. It is isolated from the test's process and from other networks. Thread: any.
public struct NetworkNamespace: Sendable {
    /// The IPv4 address of `v0`. There is no IPv6.
    public let address: String
    /// A process that is in the namespace as long as the namespace exists.
    let holder: Int32

    /// Starts a program in the namespace. It is killed with the network at the latest.
    public func start(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let command = try command(tool, arguments)
        return try ChildProcess(command.tool, command.arguments, environment: environment)
    }

    /// Starts a program in the namespace that reads its standard input from the test.
    public func startReading(
        _ tool: String, _ arguments: [String] = []
    ) throws -> (ChildProcess, ProgramInput) {
        let command = try command(tool, arguments)
        return try ProgramInput.start(command.tool, command.arguments)
    }

    /// Runs a program in the namespace to its end, like ``Tool/run(_:_:environment:within:)``.
    public func run(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> ChildProcess.Result {
        try await start(tool, arguments, environment: environment).end(within: deadline)
    }

    /// Runs a program in the namespace, like ``Tool/check(_:_:environment:within:)``.
    ///
    /// - Returns: The standard output.
    @discardableResult
    public func check(
        _ tool: String, _ arguments: [String] = [], environment: [String: String] = [:],
        within deadline: Duration = .hangLimit
    ) async throws -> String {
        let command = try command(tool, arguments)
        return try await Tool.check(
            command.tool, command.arguments, environment: environment, within: deadline)
    }

    /// The command that starts a program in the namespace. The process of nsenter becomes the
    /// program.
    func command(_ tool: String, _ arguments: [String]) throws -> (
        tool: String, arguments: [String]
    ) {
        let options = ["--target", "\(holder)", "--user", "--net", "--preserve-credentials", "--"]
        return ("nsenter", options + [try Tool.path(of: tool)] + arguments)
    }
}
