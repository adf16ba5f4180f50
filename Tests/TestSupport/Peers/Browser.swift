import Foundation

/// A headless Chromium on a test's network, from Debian's package chromium-headless-shell (or
/// chromium). It starts in 0.3 s. Thread: any.
///
/// Pages reach the network's server as `server.localhost`. Because this name ends in `localhost`,
/// pages can use a camera and other secure-context features without TLS.
public struct Browser: Sendable {
    /// Options that differ from the default.
    public struct Configuration: Sendable {
        /// Whether pages get a camera and a microphone (a green ball and beeps) without a
        /// permission prompt.
        public var hasCamera = false
        /// A film that the camera repeats: `.y4m` in I420, or `.mjpeg`.
        public var cameraFilm: String?
        /// Whether candidates hide the addresses of pages behind `.local` names, as Chromium does
        /// by default.
        public var hidesAddresses = true
        /// Whether the browser accepts any certificate.
        public var acceptsAnyCertificate = false
        /// Additional Chromium switches.
        public var switches: [String] = []

        public init() {}

        fileprivate var allSwitches: [String] {
            var all = switches
            if hasCamera || cameraFilm != nil {
                all += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
            }
            if let cameraFilm { all.append("--use-file-for-fake-video-capture=\(cameraFilm)") }
            // Pages may access local networks without a permission prompt.
            let features = hidesAddresses ? "" : ",WebRtcHideLocalIpsWithMdns"
            all.append("--disable-features=LocalNetworkAccessChecks\(features)")
            if acceptsAnyCertificate { all.append("--ignore-certificate-errors") }
            return all
        }
    }

    /// A page; its JavaScript can use the functions of `browser-rig.js` as `rig`.
    public struct Page: Sendable {
        fileprivate let browser: JSONConversation
        fileprivate let number: Int

        /// Navigates to another address, and waits until it has loaded.
        public func load(_ url: String, within deadline: Duration = .hangLimit) async throws {
            _ = try await browser.ask(
                ["do": "load", "page": number, "url": url], within: deadline)
        }

        /// Evaluates JavaScript, and awaits the result if it is a promise.
        ///
        /// - Returns: The value, as JSON text: `null` for `undefined`.
        /// - Throws: ``ChildProcess/Failure`` with the exception of the script.
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

        /// Writes the rendered page to a PNG file.
        public func screenshot(to path: String) async throws {
            _ = try await browser.ask(
                ["do": "screenshot", "page": number, "path": path])
        }

        /// Closes the page, like closing a tab.
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

    /// The console output and exceptions of all pages so far.
    public var console: String { conversation.process.errors }

    fileprivate func end() async throws { try await conversation.end() }
}

/// Runs `body` with a new browser on a machine of a network.
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
