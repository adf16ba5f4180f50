import Foundation

/// An X server without a screen, on a display number that was free.
public struct VirtualDisplay: Sendable {
    /// `:99`
    public let name: String
    private let server: ChildProcess

    /// For programs that are to show themselves there.
    public var environment: [String: String] { ["DISPLAY": name] }

    fileprivate init(width: Int, height: Int) async throws {
        // The server says its number when it takes clients.
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

    /// Starts an X client and returns when a window is on the screen. The client ends with the display.
    @discardableResult
    public func show(_ client: String, _ arguments: [String] = []) async throws -> ChildProcess {
        let child = try ChildProcess(client, arguments, environment: environment)
        try await waitForWindow()
        return child
    }

    /// Waits until a window is on the screen.
    ///
    /// - Returns: What xwininfo says of it.
    @discardableResult
    public func waitForWindow(within deadline: Duration = .hangLimit) async throws -> String {
        let clock = ContinuousClock()
        let end = clock.now + deadline
        while clock.now < end {
            // Nobody tells of a window that came up before the question: so ask until there is one.
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
        // The root's own id comes first, on a line of another kind.
        return tree.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first.map(String.init).flatMap {
                $0.hasPrefix("0x") ? $0 : nil
            }
        }
    }
}

/// Runs `body` with an X server of its own.
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
