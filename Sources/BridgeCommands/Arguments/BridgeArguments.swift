internal import ArgumentParser
internal import MediaBasics
package import MediaBridge

/// A duration: `10s`, `500ms`, `2m`, `1h`; a number without a unit is in seconds.
package struct DurationArgument: ExpressibleByArgument {
    package let value: Duration

    package init?(argument: String) {
        guard let value = Duration(text: argument) else { return nil }
        self.value = value
    }
}

/// The limit of a queue, of one output or of all: `3s`, `file=20MB`.
struct QueueArgument: ExpressibleByArgument {
    let output: String?
    let limit: QueueLimit

    init?(argument: String) {
        let (name, text) = NamedArgument.split(argument)
        guard let limit = QueueLimit(text) else { return nil }
        (output, self.limit) = (name, limit)
    }
}

/// Splits `[NAME=]STRING`.
package enum NamedArgument {
    /// A name is a word before the first equals sign, with nothing else before it: `file=filesink
    /// location=a` has one, `filesink location=a` has none.
    package static func split(_ text: String) -> (name: String?, text: String) {
        guard let equals = text.firstIndex(of: "="), let first = text.first, first.isLetter else {
            return (nil, text)
        }
        // A question mark at its end makes a stream optional.
        let word = text[..<equals]
        guard
            (word.last == "?" ? word.dropLast() : word)
                .allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
        else { return (nil, text) }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}

/// Parses `--output [NAME=]STRING`.
package enum OutputArgument {
    /// Returns the output with its name, or the next default name.
    package static func parse(_ text: String, among others: [BridgePlan.Named]) -> BridgePlan.Named
    {
        let (name, text) = NamedArgument.split(text)
        if let name { return BridgePlan.Named(name: name, text: text) }
        var index = 0
        while others.contains(where: { $0.name == BridgePlan.outputName(index) }) { index += 1 }
        return BridgePlan.Named(name: BridgePlan.outputName(index), text: text)
    }
}

/// A number with an optional decimal unit: `800k`, `4M`, `2G`.
package struct SizeArgument: ExpressibleByArgument {
    package let value: Int

    package init?(argument: String) {
        guard let value = Int(size: argument) else { return nil }
        self.value = value
    }
}

/// The option of all commands that parse gst-launch strings.
struct PluginOptions: ParsableArguments {
    @Option(
        name: .customLong("plugins"),
        help: ArgumentHelp(
            """
            Load every GStreamer plugin (libgst*.so) in <dir>, so that strings can use its elements. Repeatable. \
            Default: those that GStreamer finds itself, also by GST_PLUGIN_PATH.
            """,
            valueName: "dir"),
        completion: .directory)
    var directories: [String] = []
}
