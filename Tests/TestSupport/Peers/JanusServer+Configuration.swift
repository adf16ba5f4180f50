import Foundation

extension JanusServer {
    /// A room that is there from the start.
    public struct Room: Sendable {
        /// A letter, and then letters, digits, `-` and `_`; a number where rooms have no names.
        public var name: String
        /// Needed to change the room.
        public var secret: String?
        /// Needed to join.
        public var pin: String?
        /// Whether subscribers have to know a publisher's private id.
        public var requiresPrivateID = false
        /// Whether those who join need a token for this room, where the server has a secret for tokens.
        public var requiresToken = false
        /// Whether all are told of those who join and publish nothing.
        public var announcesJoining = true
        /// The most who publish at once.
        public var publishers = 20
        /// What is taken, in the order of preference.
        public var videoCodecs = ["vp8", "h264"]

        public init(_ name: String) { self.name = name }
    }

    /// How a server differs from the usual one.
    public struct Configuration: Sendable {
        public var port = 8188
        /// For media; one for each connection.
        public var mediaPorts = 20000...20200
        /// Needed to create rooms; `nil` lets anybody.
        public var adminKey: String? = "admin"
        /// The secret of signed tokens, which every request then needs; `nil` asks for none.
        public var tokenSecret: String?
        /// The whole seconds after which a session that says nothing is over.
        public var sessionTimeout = 60
        public var rooms: [Room] = []
        /// Whether rooms and users have names, and not numbers.
        public var hasNames = true
        /// With it the server speaks TLS, and nothing else.
        public var certificate: TestCertificate?

        public init() {}

        func write(to directory: TemporaryDirectory, address: String) throws {
            _ = try directory.write(core(directory.path), to: "janus.jcfg")
            _ = try directory.write(webSockets(address), to: "janus.transport.websockets.jcfg")
            _ = try directory.write(videoRoom, to: "janus.plugin.videoroom.jcfg")
            // Only what is needed: it starts sooner, and nothing else listens.
            for (folder, library) in [("plugins", "videoroom"), ("transports", "websockets")] {
                try FileManager.default.createDirectory(
                    atPath: directory.file(folder), withIntermediateDirectories: true)
                let name = "\(folder)/libjanus_\(library).so"
                try FileManager.default.createSymbolicLink(
                    atPath: directory.file(name),
                    withDestinationPath: try Self.libraries() + "/" + name)
            }
        }

        /// The folder of Janus's libraries.
        private static func libraries() throws -> String {
            let places = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
                .map { "/usr/lib/\($0)/janus" }
            guard let place = places.first(where: FileManager.default.fileExists(atPath:)) else {
                throw ChildProcess.Failure(
                    description: "janus is not installed: apt install janus")
            }
            return place
        }

        private func core(_ directory: String) -> String {
            let tokens =
                tokenSecret.map { "token_auth = true\n    token_auth_secret = \"\($0)\"" } ?? ""
            return """
                general: {
                    configs_folder = "\(directory)"
                    plugins_folder = "\(directory)/plugins"
                    transports_folder = "\(directory)/transports"
                    loggers_folder = "\(directory)/none"
                    events_folder = "\(directory)/none"
                    debug_level = 4
                    session_timeout = \(sessionTimeout)
                    \(tokens)
                }
                nat: { ice_enforce_list = "v0" }
                media: { rtp_port_range = "\(mediaPorts.lowerBound)-\(mediaPorts.upperBound)" }
                events: { broadcast = false }
                """
        }

        private func webSockets(_ address: String) -> String {
            let isSecure = certificate != nil
            let prefix = isSecure ? "wss" : "ws"
            let keys = certificate.map {
                "cert_pem = \"\($0.certificate)\"\n    cert_key = \"\($0.key)\""
            }
            return """
                general: {
                    json = "compact"
                    ws = \(!isSecure)
                    wss = \(isSecure)
                    \(prefix)_port = \(port)
                    \(prefix)_ip = "\(address)"
                }
                certificates: {
                    \(keys ?? "")
                }
                """
        }

        private var videoRoom: String {
            let key = adminKey.map { "admin_key = \"\($0)\"" } ?? ""
            let general = "general: {\n    string_ids = \(hasNames)\n    \(key)\n}\n"
            return general + rooms.map(\.text).joined()
        }
    }
}

extension JanusServer.Configuration {
    /// A signed token of Janus's kind.
    ///
    /// - Parameters:
    ///   - realm: `janus` for requests, `janus.plugin.videoroom` for a room.
    ///   - descriptor: `janus.plugin.videoroom`, or `room=NAME`.
    ///   - seconds: How long it is good for; negative for one that was.
    /// - Returns: `nil` where the server has no secret for tokens.
    public func token(
        of realm: String, _ descriptor: String, for seconds: Int = 3600
    ) async throws -> String? {
        guard let tokenSecret else { return nil }
        let expiry = Int(Date().timeIntervalSince1970) + seconds
        let text = "\(expiry),\(realm),\(descriptor)"
        return "\(text):\(try await Signature.make(of: text, secret: tokenSecret))"
    }
}

extension JanusServer.Room {
    fileprivate var text: String {
        let secrets =
            (secret.map { "    secret = \"\($0)\"\n" } ?? "")
            + (pin.map { "    pin = \"\($0)\"\n" } ?? "")
        return """
            room-\(name): {
            \(secrets)    require_pvtid = \(requiresPrivateID)
                signed_tokens = \(requiresToken)
                notify_joining = \(announcesJoining)
                publishers = \(publishers)
                videocodec = "\(videoCodecs.joined(separator: ","))"
                bitrate = 0
            }

            """
    }
}
