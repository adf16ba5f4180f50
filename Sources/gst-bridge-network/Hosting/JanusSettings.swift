import Foundation
import MediaBridge

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
    /// The STUN server, `HOST:PORT`; `nil` for none.
    var stunServer: String?
    /// The UDP ports for media.
    static let mediaPorts = 20000...20999

    /// Writes the settings into a new directory that only this user can read, because they have the secret.
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
            let parts = server.split(separator: ":", maxSplits: 1).map(String.init)
            return "    stun_server = \(parts[0].quotedForSettings)\n"
                + "    stun_port = \(parts.count > 1 ? parts[1] : "3478")\n"
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
                rtp_port_range = "\(Self.mediaPorts.lowerBound)-\(Self.mediaPorts.upperBound)"
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
