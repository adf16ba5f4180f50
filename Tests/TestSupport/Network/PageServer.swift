import Foundation

/// A web server on a test's network that serves the files of a directory. It ends with its network.
public struct PageServer: Sendable {
    public let process: ChildProcess
    /// For example `http://server.localhost:8080`. A ``Browser`` resolves the name to
    /// ``TestNetwork/server``.
    public let origin: String

    /// Starts the server, and waits until it listens.
    public init(
        on machine: NetworkNamespace, port: Int = 8080, serving directory: TemporaryDirectory
    ) async throws {
        origin = "http://server.localhost:\(port)"
        process = try machine.start(
            "/usr/bin/python3",
            [
                "-u", "-m", "http.server", "--bind", machine.address, "--directory",
                directory.path, "\(port)",
            ])
        try await process.waitForOutput("Serving HTTP")
    }
}
