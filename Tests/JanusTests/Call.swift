import Foundation
import Synchronization
import TestSupport
import Testing

/// A Janus on a network of its own, and programs in a room of it.
struct Call: Sendable {
    static let room = "hall"
    /// A camera and a microphone.
    static let camera = """
        videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=15/1 ! appsink name=video \
        audiotestsrc is-live=true wave=ticks ! audio/x-raw,rate=48000,channels=1 ! appsink name=audio
        """
    let network: TestNetwork
    let janus: JanusServer
    let directory: TemporaryDirectory
    private let programs = Programs()

    /// The programs that joined.
    private final class Programs: Sendable {
        let all = Mutex<[(user: String, program: ChildProcess)]>([])
    }

    /// Runs `body` beside a server. Whatever runs in the network ends with it; if `body` throws, its error tells
    /// what the programs have said.
    static func run<R>(
        _ configuration: JanusServer.Configuration = .init(),
        _ body: (Call) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let janus = try await JanusServer(
                    on: network.server, in: directory, configuration)
                let call = Call(network: network, janus: janus, directory: directory)
                do { return try await body(call) } catch {
                    let said = call.programs.all.withLock { $0 }
                        .map { "\($0.user):\n\($0.program.errors)" }
                    throw ChildProcess.Failure(
                        description: (["\(error)"] + said).joined(separator: "\n\n"))
                }
            }
        }
    }

    private func arguments(_ user: String, _ more: [String]) -> [String] {
        [
            "join", Self.room, "--server", janus.url, "--user", user, "--admin-key", "admin",
            "--progress", "always", "--report", "json",
        ] + more
    }

    /// Starts `gst-bridge join`, by default on the server's machine.
    func join(
        _ user: String, _ more: [String] = [], on machine: NetworkNamespace? = nil,
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let program = try (machine ?? network.server).start(
            Tool.gstBridge, arguments(user, more), environment: environment)
        programs.all.withLock { $0.append((user, program)) }
        return program
    }

    /// Starts `gst-bridge join` with a camera.
    func join(_ user: String, sending more: [String]) throws -> ChildProcess {
        try join(user, ["--capture", Self.camera] + more)
    }

    /// Starts `gst-bridge join --chat` with a camera.
    ///
    /// - Returns: The program, and what it reads.
    func chat(_ user: String) async throws -> (program: ChildProcess, input: FileHandle) {
        let path = directory.file("lines-of-\(user)")
        try await Tool.check("mkfifo", [path])
        let program = try network.server.start(
            "bash",
            ["-c", #"exec 3<>"$0"; exec "$@" <&3"#, path, Tool.gstBridge]
                + arguments(user, ["--capture", Self.camera, "--chat"]))
        // Opened for reading, too: opening does not wait for the program.
        return (program, try #require(FileHandle(forUpdatingAtPath: path)))
    }

    /// A new directory.
    func makeDirectory(_ name: String) throws -> String {
        let path = directory.file(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// What a command says at the end.
struct CallReport: Decodable {
    struct Counts: Decodable {
        let frames: Int
    }
    struct File: Decodable {
        let path: String
        let frames: Int
        let seconds: Double
    }
    let captures: [String: Counts]
    let outputs: [String: Counts]
    let files: [File]?
    let ended: String
}

extension ChildProcess {
    /// Waits until it has said `text` so many times.
    func waits(for text: String, times: Int = 1) async throws {
        try await waitForErrors(to: "say \"\(text)\" \(times) times") {
            $0.ranges(of: text).count >= times
        }
    }

    /// Waits until pictures of a user have arrived in so many seconds more.
    func waitsForPictures(of user: String, seconds: Int = 2) async throws {
        let before = Self.secondsWithPictures(of: user, in: errors)
        try await waitForErrors(to: "receive pictures of \(user)", within: .seconds(40)) {
            Self.secondsWithPictures(of: user, in: $0) >= before + seconds
        }
    }

    private static func secondsWithPictures(of user: String, in text: String) -> Int {
        text.split(separator: "\n").count { line in
            guard let range = line.firstRange(of: "  \(user) ") else { return false }
            let rest = line[range.upperBound...]
            return rest.first?.isNumber == true && !rest.hasPrefix("0.0 fps")
        }
    }

    /// Ends it as Ctrl-C does, and returns its report.
    func report(by signal: Int32 = SIGINT) async throws -> CallReport {
        send(signal: signal)
        let result = try await end()
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(CallReport.self, from: Data(result.output.utf8))
    }
}
