extension WebRTCServer {
    /// The settings of a server.
    public struct Configuration: Hashable, Sendable {
        /// The base path of the server, without a trailing slash: `/live` makes `/live/whep`.
        /// Default: none.
        public var path = ""
        /// Whether viewers are allowed: `/whep`, and the page at `/` and `/watch`. Default true.
        public var takesViewers = true
        /// Whether senders are allowed: `/whip`, and the page at `/send`, and at `/` if viewers are
        /// not allowed. Default true.
        public var takesSenders = true
        /// The title of the pages. Default `MediaBridge`.
        public var title = "MediaBridge"
        /// The token that viewers and senders need (`Authorization: Bearer`). The pages take it
        /// from their address (`#token=…`) or ask for it. Default `nil`: no token is needed.
        public var token: String?
        /// The additional origins whose pages may use the server: `https://HOST:PORT`, or `*` for
        /// all. The server's own origin is always allowed. Default: none; all if there is a
        /// ``token``. Without a token, any other page open in the user's browser could watch.
        public var allowedOrigins: [String] = []
        /// The host names under which the server is reached. IP addresses and `localhost` are
        /// always allowed. Without a ``token``, requests under other names are refused, because a
        /// foreign page could map its own host name to the server's address. `*` allows all.
        /// Default none.
        public var allowedHosts: [String] = []
        /// How peers are reached. A session that does not connect is kept for
        /// ``PeerConnection/Configuration/connectTimeout``.
        public var connection = PeerConnection.Configuration()
        /// The STUN and TURN servers announced to peers, in the form of
        /// ``PeerConnection/Configuration/servers``. Default `nil`: those of ``connection``.
        public var peerServers: [String]?
        /// The maximum number of viewers. Default 100.
        public var maximumViewers = 100
        /// The maximum number of senders. Default 16.
        public var maximumSenders = 16
        /// The maximum number of peers that are connecting. Default 32.
        public var maximumConnecting = 32

        /// Creates settings with the default values.
        public init() {}
    }
}
