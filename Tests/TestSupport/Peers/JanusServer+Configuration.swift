import Foundation

extension JanusServer {
    /// A room that exists from the start.
    public struct Room: Sendable {
        /// A letter followed by letters, digits, `-` and `_`; a number if rooms have no names.
        public var name: String
        /// The secret required to change the room.
        public var secret: String?
        /// The PIN required to join.
        public var pin: String?
        /// Whether subscribers must know the private ID of a publisher.
        public var requiresPrivateID = false
        /// Whether joining requires a token for this room. Applies if the server has a token
        /// secret.
        public var requiresToken = false
        /// Whether the server announces participants that join without publishing.
        public var announcesJoining = true
        /// The maximum number of simultaneous publishers.
        public var publishers = 20
        /// The accepted video codecs, in order of preference.
        public var videoCodecs = ["vp8", "h264"]

        public init(_ name: String) { self.name = name }
    }

    /// Options that differ from the default.
    public struct Configuration: Sendable {
        public var port = 8188
        /// The ports for media; each connection uses one.
        public var mediaPorts = 20000...20200
        /// The key required to create rooms; `nil` requires none.
        public var adminKey: String? = "admin"
        /// The secret of signed tokens, which every request then needs; `nil` requires no tokens.
        public var tokenSecret: String?
        /// The timeout of an idle session, in whole seconds.
        public var sessionTimeout = 60
        public var rooms: [Room] = []
        /// Whether rooms and users have names instead of numbers.
        public var hasNames = true
        /// With a certificate, the server accepts TLS only.
        public var certificate: TestCertificate?

        public init() {}

        func write(to directory: TemporaryDirectory, address: String) throws {
            _ = try directory.write(core(directory.path), to: "janus.jcfg")
            _ = try directory.write(webSockets(address), to: "janus.transport.websockets.jcfg")
            _ = try directory.write(videoRoom, to: "janus.plugin.videoroom.jcfg")
            // Only the needed libraries: the server starts faster and opens no other port.
            for (folder, library) in [("plugins", "videoroom"), ("transports", "websockets")] {
                try FileManager.default.createDirectory(
                    atPath: directory.file(folder), withIntermediateDirectories: true)
                let name = "\(folder)/libjanus_\(library).so"
                try FileManager.default.createSymbolicLink(
                    atPath: directory.file(name),
                    withDestinationPath: try Self.libraries() + "/" + name)
            }
        }

        /// The directory of Janus's libraries.
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
    /// A signed Janus token.
    ///
    /// - Parameters:
    ///   - realm: `janus` for requests, `janus.plugin.videoroom` for a room.
    ///   - descriptor: `janus.plugin.videoroom`, or `room=NAME`.
    ///   - seconds: How long the token is valid; negative for an expired token.
    /// - Returns: `nil` if the server has no token secret.
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
