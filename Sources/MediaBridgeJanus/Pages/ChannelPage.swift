internal import MediaBridgeWebRTC

/// The page on which a browser joins a channel: it sends camera and microphone, and shows all others.
package enum ChannelPage {
    /// Returns the page. Its server's WebSocket must be at the page's own address.
    ///
    /// - Parameter channel: Its name, of letters, digits, `-` and `_`.
    package static func html(channel: String) -> String {
        Page.filled(PackageResources.channel_html, title: channel, asksForServers: false)
    }
}
