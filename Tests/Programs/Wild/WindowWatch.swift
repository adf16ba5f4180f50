import Foundation
import TestSupport

/// The windows that xev reports on a display, including short-lived ones.
struct WindowWatch {
    private let xev: ChildProcess
    private let display: VirtualDisplay

    /// Returns when xev reports every new window.
    init(on display: VirtualDisplay) async throws {
        self.display = display
        xev = try ChildProcess(
            "xev", ["-root", "-event", "substructure", "-event", "property"],
            environment: display.environment)
        try await mark("WILD_BEGIN")
    }

    /// The sizes of the windows that appeared, sorted.
    func end() async throws -> [String] {
        try await mark("WILD_END")
        xev.send(signal: SIGKILL)
        return Self.sizes(in: xev.output)
    }

    /// Sets a property of the root window until xev reports it: by then xev has reported all earlier
    /// events.
    private func mark(_ name: String) async throws {
        for attempt in 0..<20 {
            try await Tool.check(
                "xprop", ["-root", "-f", name, "32c", "-set", name, "\(attempt)"],
                environment: display.environment)
            let seen: Void? = try? await xev.waitForOutput("(\(name))", within: .seconds(1))
            if seen != nil { return }
        }
        throw WildError("xev reports nothing for \(display.name)")
    }

    /// Parses xev's paragraphs: a size when a window is created or resized, and whether it was mapped.
    private static func sizes(in text: String) -> [String] {
        var sizes: [String: String] = [:]
        var appeared: Set<String> = []
        for event in text.components(separatedBy: "\n\n") {
            // The second line names the window of the event; the first names the window that xev
            // watches.
            guard let body = event.split(separator: "\n").dropFirst().first.map(String.init),
                let window = body.firstMatch(of: /\ window (0x[0-9a-f]+)/)?.1
            else { continue }
            if let size = body.firstMatch(of: /width ([0-9]+), height ([0-9]+)/) {
                sizes[String(window)] = "\(size.1)x\(size.2)"
            }
            if event.hasPrefix("MapNotify") || event.hasPrefix("\nMapNotify") {
                appeared.insert(String(window))
            }
        }
        return appeared.compactMap { sizes[$0] }.sorted()
    }
}
