import Foundation

/// An X server without a screen, on a free display number.
public struct VirtualDisplay: Sendable {
    /// `:99`
    public let name: String
    private let server: ChildProcess

    /// The environment for programs that open windows on this display.
    public var environment: [String: String] { ["DISPLAY": name] }

    fileprivate init(width: Int, height: Int) async throws {
        // The server prints its number when it accepts clients.
        server = try ChildProcess(
            "Xvfb",
            [
                "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp",
                "-noreset",
            ])
        try await server.waitForOutput("\n")
        name = ":" + server.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    fileprivate func stop() async throws {
        try await server.stop()
    }

    /// Starts an X client and returns when a window is on the screen. The client ends with the
    /// display.
    @discardableResult
    public func show(_ client: String, _ arguments: [String] = []) async throws -> ChildProcess {
        let child = try ChildProcess(client, arguments, environment: environment)
        try await waitForWindow()
        return child
    }

    /// Waits until a window is on the screen.
    ///
    /// - Returns: The output of xwininfo for the window.
    @discardableResult
    public func waitForWindow(within deadline: Duration = .hangLimit) async throws -> String {
        let clock = ContinuousClock()
        let end = clock.now + deadline
        while clock.now < end {
            // No event reports a window that is already on the screen, so poll.
            for window in try await topWindows() {
                let about = try await Tool.run(
                    "xwininfo", ["-id", window], environment: environment)
                if about.output.contains("IsViewable") { return about.output }
            }
        }
        throw ChildProcess.Failure(description: "no window on \(name) within \(deadline)")
    }

    private func topWindows() async throws -> [String] {
        let tree = try await Tool.check(
            "xwininfo", ["-root", "-children"], environment: environment)
        // The root window's ID comes first, on a line with a different format.
        return tree.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first.map(String.init).flatMap {
                $0.hasPrefix("0x") ? $0 : nil
            }
        }
    }
}

/// Runs `body` with a new X server.
public func withVirtualDisplay<R>(
    width: Int = 640, height: Int = 480, _ body: (VirtualDisplay) async throws -> R
) async throws -> R {
    let display = try await VirtualDisplay(width: width, height: height)
    do {
        let result = try await body(display)
        try await display.stop()
        return result
    } catch {
        try? await display.stop()
        throw error
    }
}
