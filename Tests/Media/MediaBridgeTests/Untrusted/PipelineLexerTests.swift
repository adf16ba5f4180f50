import CMediaBridge
import Glibc
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Compares our view of a string's words with the debug log of GStreamer's own lexer for the same
/// string.
@Suite(.serialized, .hangGuard) struct PipelineLexerTests {
    /// Pieces of which the strings are made. They contain only elements that open nothing.
    private static let fragments = [
        "fakesrc", "fakesink", "identity", "queue", "a", "t", "nosuch", "name=a", "name = b", "x=",
        "=",
        "!", "!", ":", ".", ",", ";", "(", ")", "{", "}", "[", "]", "a.", "t.src", ".sink", "bin.(",
        "bin . (", "video/x-raw", "video/x-raw,width=6", "audio/x-raw;video/x-raw", "a/b", "-", "_",
        "%", "::", "\"", "'", "\\", "\\\"", "\\ ", "\\!", ",!", ",;", "\"a b\"", "'a b'",
        "\"a\\\"b\"",
        "@preset=p", "@preset = \"q r\"", "x://", "x://y", "/", "./", "n/x", "é", "🎥", "\n", "\t",
        "\u{b}",
        "\r", "0", "9x", "x:y", "a%b-c", "text=\"x", "y=z;", "a=\"b\"c",
    ]

    private enum Word: Hashable {
        case assignment(String), identifier(String), bin(String), link(String), location(String)
        case reference, preset, other
    }

    @Test(arguments: 0..<6) func wordsMatchThoseOfGStreamersLexer(seed: UInt64) throws {
        try GStreamer.initialize()
        let log = LexerLog.shared
        var generator = SeededGenerator(seed: seed)
        var compared = 0
        for _ in 0..<400 {
            var text = ""
            for _ in 0..<Int.random(in: 1...9, using: &generator) {
                text += Self.fragments.randomElement(using: &generator) ?? ""
                if Int.random(in: 0..<3, using: &generator) == 0 { text += " " }
            }
            let lines = log.during { _ = try? Pipeline(parsing: text) }
            // GStreamer first parses the pipeline's own "( identity name=… )".
            guard let end = lines.firstIndex(where: { $0.hasPrefix("OPERATOR: [)]") }) else {
                continue
            }
            let theirs = lines[(end + 1)...].compactMap(Self.word)
            let ours = PipelineText(text).tokens.map(Self.word)
            // The parser stops at the first error.
            compared += theirs.count
            #expect(
                Array(ours.prefix(theirs.count)) == theirs, "seed \(seed): \(text.debugDescription)"
            )
        }
        #expect(compared > 1000, "the log contains too few words: \(compared) words")
    }

    private static func word(_ token: PipelineText.Token) -> Word {
        switch token {
        case .assignment(let text): .assignment(text)
        case .identifier(let text): .identifier(text)
        case .bin(let text): .bin(text)
        case .link(let text): .link(text)
        case .location(let text): .location(text)
        case .reference: .reference
        case .preset: .preset
        case .other: .other
        }
    }

    private static func word(_ line: String) -> Word? {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let text = parts.count > 1 ? String(parts[1].dropFirst()) : ""
        switch parts[0] {
        case "ASSIGNMENT": return .assignment(text)
        case "IDENTIFIER": return .identifier(text)
        case "BINREF": return .bin(text)
        case "LINK": return .link(text)
        case "URL": return .location(text)
        case "PADREF", "REF": return .reference
        case "PRESET": return .preset
        case "OPERATOR", "Invalid Lexer element": return .other
        default: return nil  // space
        }
    }
}

/// The lexer's log on this thread. It replaces GStreamer's own log function while the tests run.
private final class LexerLog: Sendable {
    static let shared = LexerLog()
    private struct State {
        var thread: pthread_t?
        var lines: [String] = []
    }
    private let state = Mutex(State())

    private init() {
        gst_debug_remove_log_function(nil)
        gst_debug_add_log_function(
            { category, _, _, _, _, _, message, context in
                guard let context, let message, let text = gst_debug_message_get(message),
                    let category, String(cString: category.pointee.name) == "GST_PIPELINE"
                else { return }
                let line = String(cString: text)
                let log = Unmanaged<LexerLog>.fromOpaque(context).takeUnretainedValue()
                log.state.withLock { state in
                    guard let thread = state.thread, pthread_equal(thread, pthread_self()) != 0,
                        line.hasPrefix("flex: ")
                    else { return }
                    state.lines.append(String(line.dropFirst(6)))
                }
            }, Unmanaged.passRetained(self).toOpaque(), nil)
        gst_debug_set_threshold_for_name("GST_PIPELINE", GST_LEVEL_DEBUG)
    }

    func during(_ body: () -> Void) -> [String] {
        state.withLock { $0 = State(thread: pthread_self()) }
        body()
        return state.withLock { state in
            defer { state = State() }
            return state.lines
        }
    }
}
