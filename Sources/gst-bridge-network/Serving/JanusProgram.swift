import Foundation
import Glibc
import MediaBasics
import MediaBridge
import Synchronization

/// A Janus server in a child process, which is restarted when it dies. It ends with this process,
/// even if this process is killed.
final class JanusProgram: Sendable {
    private let settings: JanusSettings
    private struct State {
        var process: Int32?
        var isOver = false
        /// The last lines of its output.
        var lines: [String] = []
        /// Why Janus could not be started.
        var failure: (any Error)?
    }
    private let state = Mutex(State())
    /// Signalled when Janus is to be stopped.
    private let over = MonotonicSignal()
    /// Finishes when Janus has ended and will not be restarted.
    private let (ended, ending) = AsyncStream.makeStream(of: Never.self)
    /// Printed when the WebSocket is listening.
    private static let readyText = "WebSockets thread started"
    private static let readyTimeout = Duration.seconds(10)
    private static let endTimeout = Duration.seconds(5)

    init(_ settings: JanusSettings) { self.settings = settings }

    /// What happens to Janus after it was started.
    enum Event {
        /// It had died, and runs again.
        case restarted
        /// It has died, and a restart has failed; the next one follows after the delay.
        case notRestarted(PipelineError, delay: Duration)
    }

    /// Starts Janus and keeps it running.
    ///
    /// - Parameter onEvent: Called on a thread of this object.
    /// - Throws: ``PipelineError`` if Janus does not start.
    func start(onEvent: @escaping @Sendable (Event) -> Void) async throws(PipelineError) {
        let ready = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        // The kernel kills the program when the thread that started it ends. This thread outlives
        // the program.
        Thread { [self] in
            var (isFirst, failures) = (true, 0)
            while true {
                var hasRun = false
                state.withLock { ($0.failure, $0.lines) = (nil, []) }
                do {
                    try runOnce {
                        hasRun = true
                        if isFirst { ready.continuation.yield(true) } else { onEvent(.restarted) }
                        isFirst = false
                    }
                } catch {
                    state.withLock { $0.failure = error }
                }
                // If the first start failed, another attempt would fail too.
                guard !isFirst, !state.withLock({ $0.isOver }) else { break }
                let delay = RestartPolicy().randomDelay(after: failures)
                failures = hasRun ? 0 : failures + 1
                if !hasRun { onEvent(.notRestarted(failure, delay: delay)) }
                if over.wait(for: delay) { break }
            }
            ready.continuation.yield(false)
            ending.finish()
        }.start()
        let limit = Task {
            try await Task.sleep(for: Self.readyTimeout)
            ready.continuation.yield(false)
        }
        defer { limit.cancel() }
        for await isReady in ready.stream {
            if isReady { return }
            break
        }
        await end()
        throw failure
    }

    private var failure: PipelineError {
        let (lines, failure) = state.withLock { ($0.lines, $0.failure) }
        if let failure = failure as? PipelineError { return failure }
        let reported = lines.last { $0.contains("[ERR]") || $0.contains("[FATAL]") } ?? lines.last
        return PipelineError(
            .resourceFailed,
            message: "the Janus server did not start"
                + (failure.map { ": \($0)" } ?? reported.map { ": \($0)" } ?? ""),
            advice: "sudo apt-get install janus, if it is missing")
    }

    /// Stops Janus, and waits until it has ended.
    func end() async {
        state.withLock { state in
            state.isOver = true
            if let process = state.process { kill(process, SIGTERM) }
        }
        over.signal()
        let limit = Task {
            try await Task.sleep(for: Self.endTimeout)
            state.withLock { state in
                if let process = state.process { kill(process, SIGKILL) }
            }
        }
        for await _ in ended {}
        limit.cancel()
    }

    /// Runs Janus until it ends. Calls `onReady` when it is listening.
    ///
    /// The settings are deleted once Janus has read them, so that a host that is killed later
    /// leaves no file with the secret.
    private func runOnce(onReady: () -> Void) throws {
        let directory = try settings.write()
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A child inherits the signals that this process blocks, and Janus would never receive
        // SIGTERM. When this process is killed, the kernel sends the signal once for each of its
        // threads, and Janus crashes at the third SIGTERM.
        process.arguments = [
            "--default-signal", "setpriv", "--pdeathsig", "KILL", "janus", "-F", directory.path,
            "--disable-colors",
        ]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, output)
        let isStarted = try state.withLock { state in
            guard !state.isOver else { return false }
            try process.run()
            state.process = process.processIdentifier
            return true
        }
        guard isStarted else { return }
        try? output.fileHandleForWriting.close()
        read(output.fileHandleForReading) {
            try? FileManager.default.removeItem(at: directory)
            onReady()
        }
        process.waitUntilExit()
        state.withLock { $0.process = nil }
    }

    private func read(_ output: FileHandle, _ onReady: () -> Void) {
        var rest = Data()
        // `availableData` traps if a signal interrupts it.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(output.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest.append(contentsOf: bytes[..<count])
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                state.withLock { state in
                    state.lines.append(line)
                    if state.lines.count > 20 { state.lines.removeFirst() }
                }
                if line.contains(Self.readyText) { onReady() }
            }
            // No line of Janus is that long.
            if rest.count > 65536 { rest.removeAll() }
        }
    }
}

// MARK: - Settings

/// The settings of a Janus server that only serves channels.
struct JanusSettings {
    /// The names of the channels: letters, digits, `-` and `_`.
    var channels: [String]
    /// The name of the abstract Unix socket of the WebSocket. The socket has no file, ends with its
    /// process, and is out of reach for web pages: the relay in front of it (``WebSocketRelay``)
    /// decides which connections it admits.
    let socket = "gst-bridge-janus-\(RandomToken.make())"
    /// The secret of the tokens. If it is set, every request and every channel needs a token.
    var secret: String?
    /// The STUN server; `nil` for none.
    var stunServer: (host: String, port: UInt16)?

    /// Writes the settings into a new directory that only this user can read, because they contain
    /// the secret.
    ///
    /// - Returns: The directory, which the caller removes.
    func write() throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "gst-bridge-host-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        do { try write(to: directory) } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
        return directory
    }

    private func write(to directory: URL) throws {
        for (name, text) in [
            ("janus.jcfg", core(directory.path)), ("janus.transport.websockets.jcfg", webSocket),
            ("janus.plugin.videoroom.jcfg", rooms),
        ] {
            try Data(text.utf8).write(to: directory.appending(path: name))
        }
        try linkLibraries(in: directory)
    }

    /// Links only one plugin and one transport, so that nothing else listens.
    private func linkLibraries(in directory: URL) throws {
        for (folder, name) in [("plugins", "videoroom"), ("transports", "websockets")] {
            let path = directory.appending(path: folder)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            let library = "libjanus_\(name).so"
            let places = Self.libraries.map { "\($0)/\(folder)/\(library)" }
            guard let found = places.first(where: FileManager.default.fileExists) else {
                throw PipelineError(
                    .missingElement, message: "Janus library \(library) not found",
                    advice: "sudo apt-get install janus")
            }
            try FileManager.default.createSymbolicLink(
                atPath: path.appending(path: library).path, withDestinationPath: found)
        }
    }

    /// The possible folders of Janus's libraries: Debian's package, and Janus's own installation.
    private static var libraries: [String] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return folders.map { "/usr/lib/\($0)/janus" }
            + ["/usr/lib/janus", "/usr/local/lib/janus", "/opt/janus/lib/janus"]
    }

    private func core(_ directory: String) -> String {
        let token =
            secret.map {
                "    token_auth = true\n    token_auth_secret = \($0.quotedForSettings)\n"
            } ?? ""
        let stun = stunServer.map { server in
            "    stun_server = \(server.host.quotedForSettings)\n    stun_port = \(server.port)\n"
        }
        return """
            general: {
                configs_folder = \(directory.quotedForSettings)
                plugins_folder = \("\(directory)/plugins".quotedForSettings)
                transports_folder = \("\(directory)/transports".quotedForSettings)
                loggers_folder = \("\(directory)/none".quotedForSettings)
                events_folder = \("\(directory)/none".quotedForSettings)
                debug_level = 4
            \(token)}
            nat: {
            \(stun ?? "")}
            media: {
                rtp_port_range = "20000-20999"
            }
            events: { broadcast = false }

            """
    }

    private var webSocket: String {
        """
        general: {
            json = "compact"
            ws = true
            ws_unix = \("@\(socket)".quotedForSettings)
        }

        """
    }

    private var rooms: String {
        let rooms = channels.map { name in
            """
            room-\(name): {
                secret = "\(RandomToken.make())"
                lock_record = true
                publishers = 100
                notify_joining = true
                signed_tokens = \(secret != nil)
                videocodec = "h264,vp8"
                audiocodec = "opus"
                bitrate = 0
            }

            """
        }
        // Janus lets every client with the admin key create rooms, and every client with a room's
        // secret change, record, forward and destroy the room. Without a key and secrets, every
        // client could do so, regardless of its token. They are therefore random and not disclosed.
        return """
            general: {
                string_ids = true
                admin_key = "\(RandomToken.make())"
                lock_rtp_forward = true
            }

            """ + rooms.joined()
    }
}

extension String {
    /// The string in the syntax of libconfig.
    fileprivate var quotedForSettings: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
