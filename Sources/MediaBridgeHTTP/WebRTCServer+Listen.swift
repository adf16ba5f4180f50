public import MediaBridgeWebRTC

extension WebRTCServer {
    /// Serves the pages, WHEP and WHIP over HTTP until the listener is closed.
    ///
    /// HTTP is not encrypted: on untrusted networks, put a web server with HTTPS in front, and set a token
    /// (`Configuration/token`) wherever others can reach the address.
    ///
    /// - Parameter address: `IPV4:PORT`, `[IPV6]:PORT`, `:PORT` for all addresses of this machine, or `unix:PATH`.
    ///   Port 0 is any free port. Default: `127.0.0.1:8080`.
    /// - Returns: The listener. It holds the server, and listens until ``HTTPListener/close()``.
    /// - Throws: `PipelineError.Code/badValue` for another text; `PipelineError.Code/resourceFailed` if the address
    ///   cannot be had, with the reason of the system.
    public func listen(
        on address: String = "127.0.0.1:8080"
    ) async throws(PipelineError) -> HTTPListener {
        guard let parsed = ListenAddress(address) else {
            throw PipelineError(
                .badValue, message: "cannot listen on \"\(address)\"",
                advice: "use IPV4:PORT, [IPV6]:PORT, :PORT or unix:PATH")
        }
        let listener = HTTPListener(parsed) { await self.respond(to: $0, body: $1) }
        try await listener.open()
        return listener
    }
}
