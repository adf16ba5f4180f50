import Foundation

/// A headless Chromium on a test's network, of Debian's package chromium-headless-shell (or chromium).
/// It starts in 0.3 s. Thread: any.
///
/// To pages a name is the network's server: `server.localhost`. Without TLS too they may use a camera and whatever
/// else only secure pages may, since the name ends in `localhost`.
public struct Browser: Sendable {
    /// How a browser differs from the usual one.
    public struct Configuration: Sendable {
        /// Whether pages get a camera and a microphone, without being asked for: a green ball and beeps.
        public var hasCamera = false
        /// A film that is the camera's picture, again and again: `.y4m` in I420, or `.mjpeg`.
        public var cameraFilm: String?
        /// Whether pages hide their addresses in candidates behind `.local` names, as Chromium does.
        public var hidesAddresses = true
        /// Whether every certificate is good enough.
        public var acceptsAnyCertificate = false
        /// Switches of Chromium's besides these.
        public var switches: [String] = []

        public init() {}

        fileprivate var allSwitches: [String] {
            var all = switches
            if hasCamera || cameraFilm != nil {
                all += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
            }
            if let cameraFilm { all.append("--use-file-for-fake-video-capture=\(cameraFilm)") }
            // Pages may reach what is not on the Internet without being allowed to.
            let features = hidesAddresses ? "" : ",WebRtcHideLocalIpsWithMdns"
            all.append("--disable-features=LocalNetworkAccessChecks\(features)")
            if acceptsAnyCertificate { all.append("--ignore-certificate-errors") }
            return all
        }
    }

    /// A page; `rig` in its JavaScript is what `browser-rig.js` has.
    public struct Page: Sendable {
        fileprivate let browser: JSONConversation
        fileprivate let number: Int

        /// Goes to another address, and waits until that has loaded.
        public func load(_ url: String, within deadline: Duration = .hangLimit) async throws {
            _ = try await browser.ask(
                ["do": "load", "page": number, "url": url], within: deadline)
        }

        /// Evaluates JavaScript; of a promise what it resolves with.
        ///
        /// - Returns: The value, as JSON text: `null` for `undefined`.
        /// - Throws: ``ChildProcess/Failure`` with what the script threw.
        @discardableResult
        public func evaluate(
            _ expression: String, within deadline: Duration = .hangLimit
        ) async throws -> String {
            try await browser.ask(
                ["do": "evaluate", "page": number, "expression": expression], within: deadline)
        }

        /// Evaluates JavaScript, and decodes the value.
        public func evaluate<Value: Decodable>(
            _ expression: String, as type: Value.Type, within deadline: Duration = .hangLimit
        ) async throws -> Value {
            let text = try await evaluate(expression, within: deadline)
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        }

        /// Writes what a person would see, as PNG.
        public func screenshot(to path: String) async throws {
            _ = try await browser.ask(
                ["do": "screenshot", "page": number, "path": path])
        }

        /// Closes it, as a person closes a tab.
        public func close() async throws {
            _ = try await browser.ask(["do": "close", "page": number])
        }
    }

    private let conversation: JSONConversation

    fileprivate init(
        on machine: NetworkNamespace, _ configuration: Configuration, _ directory: String
    ) async throws {
        let script = NetworkScript.path("browser.py")
        let command = try machine.command(
            "/usr/bin/python3",
            [
                script, directory,
                "--host-resolver-rules=MAP server.localhost \(TestNetwork.serverAddress)",
            ] + configuration.allSwitches)
        conversation = try await JSONConversation(command.tool, command.arguments)
    }

    /// Opens a page, and waits until it has loaded.
    public func open(_ url: String, within deadline: Duration = .hangLimit) async throws -> Page {
        let number = try await conversation.ask(["do": "open", "url": url], within: deadline)
        guard let number = Int(number) else {
            throw ChildProcess.Failure(description: "no page: \(number)")
        }
        return Page(browser: conversation, number: number)
    }

    /// What pages have written to their console, and thrown, so far.
    public var console: String { conversation.process.errors }

    fileprivate func end() async throws { try await conversation.end() }
}

/// Runs `body` with a browser of its own on a machine of a network.
public func withBrowser<R>(
    on machine: NetworkNamespace, _ configuration: Browser.Configuration = .init(),
    _ body: (Browser) async throws -> R
) async throws -> R {
    try await withTemporaryDirectory { directory in
        let browser = try await Browser(on: machine, configuration, directory.path)
        do {
            let result = try await body(browser)
            try await browser.end()
            return result
        } catch {
            try? await browser.end()
            throw error
        }
    }
}
