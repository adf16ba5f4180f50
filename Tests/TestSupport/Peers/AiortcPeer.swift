import Foundation

/// A peer with an independent implementation: aiortc from Debian's package python3-aiortc. It ends
/// with its network; see `aiortc-peer.py`. Thread: any.
public struct AiortcPeer: Sendable {
    /// The task of a peer.
    public enum Role: Sendable {
        /// Receives video and audio by WHEP.
        case play(String)
        /// Sends numbered pictures and a tone by WHIP.
        case send(String)
        /// Accepts WHIP at `/whip` and serves WHEP at `/whep`, on this port.
        case serve(port: Int)
    }

    /// Options that differ from the default.
    public struct Configuration: Sendable {
        /// The bearer token that the peer sends or requires.
        public var token: String?
        /// `H264` or `VP8`; `nil` allows both.
        public var codec: String?
        /// The number of pictures that are enough. A player then ends; a sender or a server prints
        /// `enough` and continues until it is stopped. `nil` runs the peer until it is stopped.
        public var pictures: Int?
        /// The number of audio blocks (20 ms) that are also required.
        public var sound = 0
        /// The address, user and credential of a TURN server.
        public var turn: (url: String, user: String, credential: String)?
        /// Whether the peer accepts any certificate.
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

    /// The media that a peer received or sent.
    public struct Report: Sendable, Decodable {
        public var pictures: Int
        /// Blocks of 20 ms.
        public var sound: Int
        /// The numbers of the last 300 pictures.
        public var numbers: [Int]
        /// The largest error of a pixel's colour component, up to 255.
        public var worst: Int
        /// The mean error over all colour components of a picture, for the worst picture.
        public var mean: Double
        /// The last state of the connection.
        public var state: String
        /// `HTTP 401`, or a Python exception; `nil` if nothing failed.
        public var error: String?
    }

    public let process: ChildProcess

    /// Starts the peer. A server listens when this returns (0.5 s).
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

    /// Waits until a player has received enough.
    public func report() async throws -> Report { try Self.report(await process.end()) }

    /// Waits until a sender has sent, or a server has received, enough.
    public func waitUntilEnough() async throws { try await process.waitForOutput("enough\n") }

    /// Asks the peer to hang up, and waits until it has.
    public func stop() async throws -> Report {
        try Self.report(await process.stop())
    }

    private static func report(_ result: ChildProcess.Result) throws -> Report {
        guard let line = result.output.split(separator: "\n").last(where: { $0.hasPrefix("{") })
        else { throw ChildProcess.Failure(description: "no report: \(result.errors)") }
        return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }
}
