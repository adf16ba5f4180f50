/// Controls a bridge by requests of one line each: those of its recording (``RecorderControl``), and those for the
/// elements of its strings. Thread: any.
///
/// | Request | Effect |
/// | --- | --- |
/// | `set ELEMENT.PROPERTY VALUE` | ``Bridge/setProperty(_:to:)`` |
/// | `get ELEMENT[.PROPERTY]`, `properties [ELEMENT[.PROPERTY]]` | ``Bridge/properties(of:)`` |
/// | `reload FILE` | ``Bridge/reloadPlugin(_:)`` |
package final class BridgeControl: Sendable {
    /// A request for elements.
    package enum Verb: String, CaseIterable { case set, get, properties, reload }

    /// The answer to such a request.
    package struct Answer: Codable {
        package let ok: Bool
        package var error: String?
        package var properties: [ElementProperty]?
    }

    private let bridge: Bridge
    /// The control of the bridge's recording, if it has one.
    package let recorder: RecorderControl?

    package init(_ bridge: Bridge) {
        self.bridge = bridge
        recorder = bridge.recorders.first.map { RecorderControl($0) }
    }

    /// Performs a request and answers with one line of JSON.
    package func answer(_ request: String) async -> String {
        let verb = String(request.drop { $0 == " " }.prefix { $0 != " " })
        if let recorder, RecorderControl.verbs.contains(verb) {
            return await recorder.answer(request)
        }
        var answer: Answer
        do throws(PipelineError) {
            answer = Answer(ok: true)
            answer.properties = try await perform(request)
        } catch {
            answer = Answer(ok: false, error: "\(error)")
        }
        return (try? JSONLine.text(of: answer)) ?? "{\"ok\":false}"
    }

    private func perform(_ request: String) async throws(PipelineError) -> [ElementProperty] {
        var rest = request[...]
        func word() -> String {
            rest = rest.drop { $0 == " " }
            let word = rest.prefix { $0 != " " }
            rest = rest.dropFirst(word.count)
            return String(word)
        }
        let (verb, name) = (word(), word())
        switch (Verb(rawValue: verb), name.isEmpty, rest.isEmpty) {
        // One space separates the value, which may have spaces.
        case (.set, false, false):
            return [try await bridge.setProperty(name, to: String(rest.dropFirst()))]
        case (.get, false, true):
            let readable = try await bridge.properties(of: name).filter(\.isReadable)
            guard readable.isEmpty else { return readable }
            throw PipelineError(.invalidState, message: "\"\(name)\" is write-only")
        case (.properties, _, true):
            return try await bridge.properties(of: name.isEmpty ? nil : name)
        case (.reload, false, _):
            return try await bridge.reloadPlugin(name + String(rest))
        case (nil, _, _):
            let verbs =
                (recorder == nil ? [] : RecorderControl.verbs) + Verb.allCases.map(\.rawValue)
            throw PipelineError(
                .badValue, message: "unknown request \"\(request)\"",
                advice: "one of \(verbs.joined(separator: ", "))")
        default:
            throw PipelineError(
                .badValue, message: "incomplete or too long: \"\(request)\"",
                advice:
                    "set ELEMENT.PROPERTY VALUE, get ELEMENT[.PROPERTY], properties [ELEMENT] or "
                    + "reload FILE"
            )
        }
    }
}
