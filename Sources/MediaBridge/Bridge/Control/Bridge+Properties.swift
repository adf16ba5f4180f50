internal import MediaBasics

/// Properties of the elements in the strings of captures and outputs, before, during and after the run.
///
/// An element is addressed by its name (`name=…`, or the generated one such as `blur0`). The name of its factory
/// (`blur`) stands for the only element of that factory. If the name occurs more than once, put the name of the
/// capture or the output in front: `file/blur0`. The elements that a recording adds are not included.
extension Bridge {
    /// The longest time that an element may take to change a property.
    private static let propertyTimeout = Duration.seconds(5).asDefaultDeadline

    /// Sets a property of an element, and reads it again.
    ///
    /// The value holds for the whole run, restarts of the capture included. Only an element that a bin such as
    /// `decodebin` creates is a new one after a restart.
    ///
    /// - Parameters:
    ///   - name: The element and its property: `blur.radius`; of a pad, `mixer.sink_0::xpos`.
    ///   - value: The value, as in a gst-launch string.
    /// - Returns: The property with the value that the element has now. It may have adjusted the value.
    /// - Throws: ``PipelineError`` if there is no such property, if it does not accept the value or cannot change now,
    ///   if the element keeps another value, or if it does not answer within 5 s.
    @discardableResult
    public func setProperty(
        _ name: String, to value: String
    ) async throws(PipelineError) -> ElementProperty {
        try await ask(name) { [self] element, property throws(PipelineError) in
            guard let property else {
                throw PipelineError(
                    .badValue, message: "\"\(name)\" names an element without a property",
                    advice: "\(name).PROPERTY")
            }
            if let reason = reason(toKeep: property, of: element) {
                throw PipelineError(
                    .invalidState, element: element.path,
                    message: "\"\(property)\" of \(element.name) \(reason)")
            }
            return [try element.setProperty(property, to: value)]
        }[0]
    }

    /// Returns the properties of all elements, of one element (`blur`), or a single one (`blur.radius`), with their
    /// present values.
    ///
    /// - Throws: ``PipelineError`` if there is no such element or property, or if an element does not answer within
    ///   5 s.
    public func properties(
        of name: String? = nil
    ) async throws(PipelineError) -> [ElementProperty] {
        try await ask(name) { element, property throws(PipelineError) in
            guard let property else { return element.properties }
            return [try element.property(property)]
        }
    }

    /// Loads another version of a plugin, and replaces the elements of captures and outputs that it contains: between
    /// two frames, so that none is lost or repeated. The new elements have the names and the values of the old ones,
    /// without their controllers.
    ///
    /// The version before stays in memory, because GStreamer's types last as long as the process.
    ///
    /// - Parameter path: The file `libgst*.so`; each version has its own folder.
    /// - Returns: The properties of the new elements.
    /// - Throws: ``PipelineError`` if the file is no plugin, if no element is of a factory in it, or if an element
    ///   cannot be replaced: a source, a sink, or one with several pads.
    @discardableResult
    public func reloadPlugin(_ path: String) async throws(PipelineError) -> [ElementProperty] {
        let parts = captures.map(\.pipeline) + outputs.map(\.output.pipeline)
        let result = await propertyQueue.run(within: .seconds(15).asDefaultDeadline) {
            Result { () throws(PipelineError) in
                let factories = try GStreamer.loadVersion(of: path)
                var names: [String] = []
                for pipeline in parts {
                    for factory in factories {
                        names += try pipeline.replaceElements(of: factory)
                    }
                }
                guard !names.isEmpty else {
                    throw PipelineError(
                        .notFound, message: "no element of the pipelines can be replaced",
                        advice: "a filter of \(factories.joined(separator: ", "))")
                }
                return names
            }
        }
        guard let result else {
            throw PipelineError(
                .deadlineExceeded, message: "the elements were not replaced within 15 s",
                advice: "look whether the pipeline still runs")
        }
        let names = try result.get()
        return try await properties().filter { property in
            names.contains { property.element.hasSuffix("/\($0)") }
        }
    }

    /// Calls `body` with the elements of a name, on a thread that an element may block.
    private func ask(
        _ name: String?,
        _ body: @escaping @Sendable (Element, String?) throws(PipelineError) -> [ElementProperty]
    ) async throws(PipelineError) -> [ElementProperty] {
        let (parts, property) = try find(name)
        let result = await propertyQueue.run(within: Self.propertyTimeout) { [self] in
            Result { () throws(PipelineError) in
                var all: [ElementProperty] = []
                for part in parts {
                    for var found in try body(part.element, property) {
                        found.element = part.path
                        if let reason = reason(toKeep: found.name, of: part.element) {
                            (found.isSettable, found.refusal) = (false, reason)
                        }
                        all.append(found)
                    }
                }
                return all
            }
        }
        guard let result else {
            throw PipelineError(
                .deadlineExceeded, message: "the element did not answer within 5 s",
                advice: "look whether the pipeline still runs; the value may be set later")
        }
        return try result.get()
    }

    // MARK: Elements

    private struct BridgeElement: Sendable {
        /// The names of the capture or output, the bins and the element.
        let path: String
        let element: Element
    }

    private var elements: [BridgeElement] {
        let parts =
            zip(plan.captures.map(\.name), captures.map(\.pipeline))
            + outputs.map { ($0.name, $0.output.pipeline) }
        return parts.flatMap { name, pipeline in
            pipeline.elements.map { element in
                // `/GstPipeline:pipeline0/GstBin:bin0/GstQueue:queue0`
                let names = element.path.split(separator: "/").dropFirst().map {
                    $0.drop { $0 != ":" }.dropFirst()
                }
                return BridgeElement(
                    path: ([name[...]] + names).joined(separator: "/"), element: element)
            }
        }.sorted { $0.path < $1.path }
    }

    /// Returns the element of a name and the property, if the name has one; all elements without a name.
    private func find(_ name: String?) throws(PipelineError) -> ([BridgeElement], String?) {
        let all = elements
        guard let name else { return (all, nil) }
        func matches(_ name: some StringProtocol) -> [BridgeElement] {
            let named = all.filter { "/\($0.path)".hasSuffix("/\(name)") }
            return named.isEmpty ? all.filter { $0.element.factoryName == name } : named
        }
        var (found, element, property) = (matches(name), name[...], String?.none)
        if found.isEmpty, let dot = name.lastIndex(of: ".") {
            (element, property) = (name[..<dot], String(name[dot...].dropFirst()))
            found = matches(element)
        }
        let paths = (found.isEmpty ? all : found).map(\.path).joined(separator: ", ")
        guard found.count < 2 else {
            throw PipelineError(
                .duplicateName, message: "\(found.count) elements match \"\(element)\"",
                advice: "one of \(paths)")
        }
        guard !found.isEmpty else {
            let names =
                element.isEmpty ? [] : all.flatMap { [$0.element.name, $0.element.factoryName] }
            throw PipelineError(
                .notFound, message: "no element is named \"\(element)\"",
                advice: Spelling.nearest(to: String(element), among: names) ?? "one of \(paths)")
        }
        return (found, property)
    }

    /// Returns why a property must not change while the bridge uses the element; `nil` if it may.
    private func reason(toKeep property: String, of element: Element) -> String? {
        let isTimed = captures.contains { $0.timedByArrival.contains { $0.path == element.path } }
        return switch (element.factoryName, property) {
        case ("appsink", _), ("appsrc", _):
            "is set by the bridge, which passes and counts the frames there"
        case (_, "is-live"): "must stay: the bridge has chosen by it whether frames may be dropped"
        case ("fdsink", "fd"): "must stay: another file could mix with the report"
        case (_, "do-timestamp") where isTimed: "must stay: the bridge needs the times of arrival"
        default: nil
        }
    }
}
