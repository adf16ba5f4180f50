import Foundation
import Synchronization
import TestSupport
import Testing

/// A Janus server on its own test network, and programs in one of its rooms.
///
/// The sending programs show numbered pictures, ten a second: alice uses the lower half of the numbers,
/// every other user the upper half. A browser, ann, sends all of them.
struct Call: Sendable {
    static let room = "hall"
    static let sound =
        "audiotestsrc is-live=true wave=ticks ! audio/x-raw,rate=48000,channels=1 ! appsink name=audio"
    /// A camera and a microphone.
    static let camera =
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=10/1 ! "
        + "appsink name=video \(sound)"
    /// Options that make a program write each received picture to standard output, as eight letters: the
    /// bits of its number.
    static let watching = [
        "--output",
        "videobalance contrast=0.2 brightness=0.15 ! videoscale ! videoconvert ! "
            + "video/x-raw,format=GRAY8,width=8,height=4 ! videocrop top=2 bottom=1 ! fdsink",
    ]
    /// An environment that extends the library's deadlines to minutes, so that no deadline decides a test.
    static let patience = ["MEDIABRIDGE_DEADLINE_FACTOR": "20"]

    let network: TestNetwork
    let janus: JanusServer
    let directory: TemporaryDirectory
    let pictures: NumberedPictures
    private let programs = Programs()

    /// The programs that have joined.
    private final class Programs: Sendable {
        let all = Mutex<[(user: String, program: ChildProcess)]>([])
    }

    /// Runs `body` with a server. All processes on the network end with it. If `body` throws, the error
    /// includes the logs of the programs.
    static func run<R>(
        _ configuration: JanusServer.Configuration = .init(),
        _ body: (Call) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            let pictures = try NumberedPictures(in: directory)
            return try await withTestNetwork { network in
                let janus = try await JanusServer(
                    on: network.server, in: directory, configuration)
                let call = Call(
                    network: network, janus: janus, directory: directory, pictures: pictures)
                do { return try await body(call) } catch {
                    let logs = call.programs.all.withLock { $0 }
                        .map { "\($0.user):\n\($0.program.errors)" }
                    throw ChildProcess.Failure(
                        description: (["\(error)"] + logs).joined(separator: "\n\n"))
                }
            }
        }
    }

    /// The numbers of a user's pictures.
    static func numbers(of user: String) -> ClosedRange<Int> {
        user == "alice" ? 0...127 : user == "ann" ? 0...255 : 128...255
    }

    /// A gst-launch string that produces a user's pictures and sound.
    func capture(_ user: String, encoder: String? = nil) -> String {
        let video = pictures.source(of: Self.numbers(of: user)) + (encoder.map { " ! \($0)" } ?? "")
        return "\(video) ! appsink name=video \(Self.sound)"
    }

    private func arguments(_ user: String, _ more: [String], room: String) -> [String] {
        [
            "join", room, "--server", janus.url, "--user", user, "--admin-key", "admin",
            "--progress", "always", "--report", "json",
        ] + more
    }

    /// Starts `gst-bridge join`, by default on the server's machine.
    func join(
        _ user: String, _ more: [String] = [], room: String = Self.room,
        on machine: NetworkNamespace? = nil, environment: [String: String] = Self.patience
    ) throws -> ChildProcess {
        let program = try (machine ?? network.server).start(
            Tool.gstBridge, arguments(user, more, room: room), environment: environment)
        programs.all.withLock { $0.append((user, program)) }
        return program
    }

    /// Starts a `gst-bridge join` that sends and watches.
    func call(
        _ user: String, _ more: [String] = [], on machine: NetworkNamespace? = nil,
        environment: [String: String] = Self.patience
    ) throws -> ChildProcess {
        try join(
            user, ["--capture", capture(user)] + Self.watching + more, on: machine,
            environment: environment)
    }

    /// Starts a `gst-bridge join --chat` that sends.
    ///
    /// - Returns: The program, and its input.
    func chat(_ user: String) async throws -> (program: ChildProcess, input: FileHandle) {
        let path = directory.file("lines-of-\(user)")
        try await Tool.check("mkfifo", [path])
        let program = try network.server.start(
            "bash",
            ["-c", #"exec 3<>"$0"; exec "$@" <&3"#, path, Tool.gstBridge]
                + arguments(user, ["--capture", capture(user), "--chat"], room: Self.room),
            environment: Self.patience)
        programs.all.withLock { $0.append((user, program)) }
        // Opened for reading and writing, because a write-only open of a FIFO blocks until the program opens
        // it.
        return (program, try #require(FileHandle(forUpdatingAtPath: path)))
    }

    /// Options that record into a new directory.
    func recording(_ name: String) -> [String] { ["--record", directory.file("of-\(name)")] }
}

/// The final report of a command.
struct CallReport: Decodable {
    struct Counts: Decodable {
        let frames: Int
    }
    struct File: Decodable {
        let path: String
        let frames: Int
    }
    let captures: [String: Counts]
    let outputs: [String: Counts]
    let files: [File]?
    let ended: String
}

extension CallReport.File {
    /// Expects that the file is complete, with one user's pictures in order, and with sound.
    ///
    /// - Parameter isWhole: False if an interruption may have dropped pictures.
    func expect(
        _ user: String, codec: String? = nil, isWhole: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let probe = try await MediaProbe(of: path)
        let video = try #require(probe.video, sourceLocation: sourceLocation)
        #expect(video.codec == codec ?? video.codec, sourceLocation: sourceLocation)
        #expect(video.frames == frames, sourceLocation: sourceLocation)
        #expect((video.width, video.height) == (160, 120), sourceLocation: sourceLocation)
        #expect(probe.audio?.codec == "opus", sourceLocation: sourceLocation)
        let readings = try await NumberedPictures.readings(of: path)
        #expect(readings.count == frames, sourceLocation: sourceLocation)
        #expect(readings.allSatisfy { $0.mean < 20 }, sourceLocation: sourceLocation)
        let numbers = readings.map(\.number)
        #expect(
            numbers.allSatisfy(Call.numbers(of: user).contains), "\(numbers)",
            sourceLocation: sourceLocation)
        if isWhole {
            #expect(
                numbers.areInOrder(of: 128, repeats: false), "\(numbers)",
                sourceLocation: sourceLocation)
        }
    }
}

extension ChildProcess {
    /// Waits until the program has logged `text` this many times.
    func waits(for text: String, times: Int = 1) async throws {
        try await waitForErrors(to: "say \"\(text)\" \(times) times") {
            $0.ranges(of: text).count >= times
        }
    }

    /// The numbers of a user's pictures that ``Call/watching`` has shown so far.
    func pictures(of user: String) -> [Int] { Self.pictures(of: user, in: output) }

    private static func pictures(of user: String, in output: String) -> [Int] {
        let letters = Array(output.utf8.prefix { $0 != UInt8(ascii: "{") })
        return stride(from: 0, through: letters.count - 8, by: 8)
            .map { letters[$0..<$0 + 8].reduce(0) { 2 * $0 + ($1 > 76 ? 1 : 0) } }
            .filter(Call.numbers(of: user).contains)
    }

    /// Waits until ``Call/watching`` has shown `count` more pictures of a user.
    func waitsForPictures(of user: String, _ count: Int = 10) async throws {
        let all = pictures(of: user).count + count
        try await waitForOutput(to: "show \(count) pictures of \(user)") {
            Self.pictures(of: user, in: $0).count >= all
        }
    }

    /// Ends the program as Ctrl-C does, and returns its report.
    func report(by signal: Int32 = SIGINT) async throws -> CallReport {
        send(signal: signal)
        let result = try await end()
        try #require(result.status == 0, "\(result.errors)")
        let line = result.output.firstIndex(of: "{").map { result.output[$0...] } ?? ""
        return try JSONDecoder().decode(CallReport.self, from: Data(line.utf8))
    }
}
