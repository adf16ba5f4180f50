extension WebRTCServer {
    /// The settings of a server.
    public struct Configuration: Hashable, Sendable {
        /// The path under which the server is reached, without a slash at its end: `/live` makes
        /// `/live/whep`. Default: none.
        public var path = ""
        /// Whether there are viewers: `/whep`, and the page at `/` and `/watch`. Default true.
        public var takesViewers = true
        /// Whether there are senders: `/whip`, and the page at `/send`, and at `/` without viewers.
        /// Default true.
        public var takesSenders = true
        /// What the page is called. Default `MediaBridge`.
        public var title = "MediaBridge"
        /// The token that viewers and senders need (`Authorization: Bearer`); the pages take it from their
        /// address (`#token=…`) or ask for it. `nil`, the default: none is needed.
        public var token: String?
        /// The origins whose pages may use the server, besides its own: `https://HOST:PORT`, or `*` for
        /// all. Default none, and all if there is a ``token``: without one, any page that somebody
        /// opens beside could watch.
        public var allowedOrigins: [String] = []
        /// The host names under which the server is reached, besides IP addresses and `localhost`. Without
        /// a ``token`` requests under other names are refused, because a page of others could give its
        /// own name the server's address. `*` allows all. Default none.
        public var allowedHosts: [String] = []
        /// How peers are reached. ``PeerConnection/Configuration/connectTimeout`` is how long a
        /// session that does not connect is kept.
        public var connection = PeerConnection.Configuration()
        /// The STUN and TURN servers that peers are told, in the form of
        /// ``PeerConnection/Configuration/servers``. `nil`, the default: those of ``connection``.
        public var peerServers: [String]?
        /// The most viewers at a time. Default 100.
        public var maximumViewers = 100
        /// The most senders at a time. Default 16.
        public var maximumSenders = 16
        /// The most peers that are connecting at a time. Default 32.
        public var maximumConnecting = 32

        /// Creates settings with the default values.
        public init() {}
    }
}
