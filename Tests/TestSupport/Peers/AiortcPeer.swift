import Foundation

/// A peer of another kind, aiortc of Debian's package python3-aiortc. It ends with its network; see
/// `aiortc-peer.py`. Thread: any.
public struct AiortcPeer: Sendable {
    /// What a peer is for.
    public enum Role: Sendable {
        /// Gets pictures and sound by WHEP.
        case play(String)
        /// Sends numbered pictures and a tone by WHIP.
        case send(String)
        /// Takes WHIP at `/whip` and gives WHEP at `/whep`, on this port.
        case serve(port: Int)
    }

    /// How a peer differs from the usual one.
    public struct Configuration: Sendable {
        /// The bearer token that it sends, or demands.
        public var token: String?
        /// `H264` or `VP8`; `nil` is both.
        public var codec: String?
        /// The number of pictures that are enough. A player then ends; a sender or a server prints
        /// `enough` and goes on until it is stopped. `nil`: it runs until it is stopped.
        public var pictures: Int?
        /// The number of blocks of sound (20 ms) that are enough, besides the pictures.
        public var sound = 0
        /// The address, user and credential of a TURN server.
        public var turn: (url: String, user: String, credential: String)?
        /// Whether every certificate is good enough.
        public var acceptsAnyCertificate = false

        public init() {}

        fileprivate var options: [String] {
            var options = ["--sound", "\(sound)"]
            if let token { options += ["--token", token] }
            if let codec { options += ["--codec", codec] }
            if let pictures { options += ["--pictures", "\(pictures)"] }
            if let turn { options += ["--turn", turn.url, turn.user, turn.credential] }
            if acceptsAnyCertificate { options.append("--insecure") }
            return options
        }
    }

    /// What came, or of a sender what went.
    public struct Report: Sendable, Decodable {
        public var pictures: Int
        /// Blocks of 20 ms.
        public var sound: Int
        /// What the last 300 pictures say.
        public var numbers: [Int]
        /// How far the worst part of a pixel was off, up to 255.
        public var worst: Int
        /// How far the parts of all pixels of a picture were off in the mean; of the worst picture.
        public var mean: Double
        /// The last state of the connection.
        public var state: String
        /// `HTTP 401`, or an exception of Python's; `nil` where nothing failed.
        public var error: String?
    }

    public let process: ChildProcess

    /// Starts it. A server is returned when it listens (0.5 s).
    public init(
        _ role: Role, on machine: NetworkNamespace, _ configuration: Configuration = .init()
    ) async throws {
        let words =
            switch role {
            case .play(let url): ["play", url]
            case .send(let url): ["send", url]
            case .serve(let port): ["serve", "\(machine.address):\(port)"]
            }
        process = try machine.start(
            "/usr/bin/python3",
            [NetworkScript.path("aiortc-peer.py")] + words + configuration.options)
        if case .serve = role {
            try await process.waitForOutput("listening\n")
        }
    }

    /// Waits until a player has enough.
    public func report() async throws -> Report { try Self.report(await process.end()) }

    /// Waits until a sender has sent, or a server has received, enough.
    public func waitUntilEnough() async throws { try await process.waitForOutput("enough\n") }

    /// Asks it to hang up, and waits until it has.
    public func stop() async throws -> Report {
        try Self.report(await process.stop())
    }

    private static func report(_ result: ChildProcess.Result) throws -> Report {
        guard let line = result.output.split(separator: "\n").last(where: { $0.hasPrefix("{") })
        else { throw ChildProcess.Failure(description: "no report: \(result.errors)") }
        return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }
}
