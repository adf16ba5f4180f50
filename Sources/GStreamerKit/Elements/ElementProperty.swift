internal import CMediaBridge
internal import MediaBasics

/// A property of an element, or of one of its pads, as it was when it was read.
public struct ElementProperty: Hashable, Codable, Sendable {
    /// The element's name.
    public package(set) var element: String
    /// The property's name, as gst-inspect-1.0 lists it; for a pad's property, `sink_0::xpos`.
    public let name: String
    /// The type: `int`, `string`, or the name of GStreamer's type, such as `GstCaps`.
    public let type: String
    /// The permitted values: a range such as `whole numbers from 0 to 64`, or the names of the values of an
    /// enumeration. `nil` if the type does not restrict them.
    public let values: String?
    /// The current value, as a gst-launch string states it; `nil` if it is unset or cannot be read.
    public let text: String?
    /// The value that the property has if it is never set; `nil` if there is none.
    public let defaultText: String?
    /// False for a write-only property.
    public let isReadable: Bool
    /// Whether a change is possible in the element's present state; `nil` if the element does not declare it. A
    /// change is then tried.
    public package(set) var isSettable: Bool?
    /// Why a change is not possible; `nil` if it is.
    public package(set) var refusal: String?

    private enum CodingKeys: String, CodingKey {
        case element, name, type, values, refusal
        case text = "value"
        case defaultText = "default"
        case isReadable = "readable"
        case isSettable = "settable"
    }

    /// - Parameter name: The name that the caller uses; `nil` for the specification's own.
    fileprivate init(
        _ spec: UnsafeMutablePointer<GParamSpec>, of object: UnsafeMutablePointer<GObject>,
        element: Element, name: String? = nil
    ) {
        let (limit, state) = (mb_spec_mutability(spec), element.pointer.pointee.current_state)
        let type = g_type_name(spec.pointee.value_type).map { String(cString: $0) } ?? ""
        self.element = element.name
        self.name = name ?? String(cString: g_param_spec_get_name(spec))
        self.type =
            type == "gchararray" ? "string" : type.first == "g" ? String(type.dropFirst()) : type
        let nicks = strings(adopting: mb_spec_nicks(spec))
        values =
            nicks.isEmpty ? String(adopting: mb_spec_range(spec)) : nicks.joined(separator: ", ")
        isReadable = mb_spec_is_readable(spec) != 0
        defaultText = g_param_spec_get_default_value(spec).flatMap { Self.text(of: $0.pointee) }
        if mb_spec_is_writable(spec) == 0 {
            refusal = "is read-only"
        } else if mb_spec_is_construct_only(spec) != 0 {
            refusal = "can be set only when the element is created"
        } else if limit != GST_STATE_VOID_PENDING, state.rawValue > limit.rawValue {
            let names = [limit, state].map { String(cString: gst_element_state_get_name($0)) }
            refusal =
                "changes only in the state \(names[0]) or below, and the element is \(names[1])"
        }
        let isDeclared =
            limit != GST_STATE_VOID_PENDING || state.rawValue <= GST_STATE_READY.rawValue
        isSettable = refusal != nil ? false : isDeclared ? true : nil
        var value = GValue()
        g_value_init(&value, spec.pointee.value_type)
        if isReadable { g_object_get_property(object, g_param_spec_get_name(spec), &value) }
        text = isReadable ? Self.text(of: value) : nil
        g_value_unset(&value)
    }

    /// Returns the text of a value; of an object, its name. `nil` for media: that would be all of its bytes.
    fileprivate static func text(of value: GValue) -> String? {
        var value = value
        if [gst_sample_get_type(), gst_buffer_get_type()].contains(value.g_type) { return nil }
        guard g_type_is_a(value.g_type, gst_object_get_type()) != 0 else {
            return String(adopting: mb_value_text(&value))
        }
        return g_value_get_object(&value).flatMap {
            String(adopting: gst_object_get_name($0.assumingMemoryBound(to: GstObject.self)))
        }
    }

    /// Returns the advice for a value that the property does not accept; `nil` if there is none.
    func advice(for value: String) -> String? {
        guard let values else { return nil }
        let names = values.split(separator: ", ").map(String.init)
        let nearest = Spelling.nearest(to: value, among: names).map { "\(name)=\($0); " }
        return "\(nearest ?? "")\(name) accepts \(values)"
    }
}

/// An object, the specification of its property, and a new value. It holds a reference to the object.
///
/// Sendable: the value is written before ``set()`` is passed to another thread, and not afterwards.
private final class FoundProperty: @unchecked Sendable {
    let object: UnsafeMutablePointer<GObject>
    let spec: UnsafeMutablePointer<GParamSpec>
    var value = GValue()

    init(object: UnsafeMutablePointer<GObject>, spec: UnsafeMutablePointer<GParamSpec>) {
        (self.object, self.spec) = (object, spec)
        g_value_init(&value, spec.pointee.value_type)
    }

    deinit {
        g_value_unset(&value)
        g_object_unref(object)
    }

    /// Sets the value, and returns what GStreamer logs about it.
    func set() -> [String] {
        LogCapture.during(atLeast: G_LOG_LEVEL_WARNING) {
            g_object_set_property(object, g_param_spec_get_name(spec), &value)
        }.1
    }
}

extension Element {
    /// All properties, in the order of gst-inspect-1.0.
    package var properties: [ElementProperty] { specs.map { property($0) } }

    /// All writable string properties except `name`.
    package var textProperties: [ElementProperty] {
        specs.filter { mb_spec_is_string($0) != 0 && mb_spec_is_writable($0) != 0 }
            .map { property($0) }.filter { $0.name != "name" }
    }

    /// All properties that can be set from a string.
    var settableProperties: [ElementProperty] {
        specs.filter { mb_spec_is_writable($0) != 0 }.map { property($0) }
    }

    private func property(_ spec: UnsafeMutablePointer<GParamSpec>) -> ElementProperty {
        ElementProperty(spec, of: pointer.cast(), element: self)
    }

    /// Reads a property.
    ///
    /// - Parameter name: The name; with a child in front of it, as in `sink_0::xpos`, that of a pad or of an
    ///   element in a bin.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/noSuchProperty``.
    package func property(_ name: String) throws(PipelineError) -> ElementProperty {
        let found = try find(name)
        return ElementProperty(found.spec, of: found.object, element: self, name: name)
    }

    /// Sets a property to a value that is parsed as in a gst-launch string, and reads it again. Blocks for as long as
    /// the element does.
    ///
    /// - Returns: The property with the value that the element has now. It may have adjusted the value.
    /// - Throws: ``PipelineError`` if there is no such property, if it does not accept the value or cannot change now,
    ///   or if the element keeps another value.
    package func setProperty(
        _ name: String, to text: String
    ) throws(PipelineError) -> ElementProperty {
        let found = try find(name)
        let before = ElementProperty(found.spec, of: found.object, element: self, name: name)
        if let refusal = before.refusal {
            throw PipelineError(
                .invalidState, element: path, message: "\"\(name)\" of \(self.name) \(refusal)",
                advice: "set it in the pipeline's string")
        }
        guard parse(text, as: found.spec, &found.value),
            before.values == nil || g_param_value_validate(found.spec, &found.value) == 0
        else {
            throw PipelineError(
                .badValue, element: path,
                message: "\"\(name)\" of \(self.name) does not accept the value \"\(text)\"",
                advice: before.advice(for: text)
                    ?? (found.value.g_type == gst_pad_get_type()
                        ? "one of \((pads(GST_PAD_SINK) + sourcePads).map(\.name).joined(separator: ", "))"
                        : "a value of the type \(before.type)"))
        }
        let wanted = ElementProperty.text(of: found.value)
        let warnings = try set(found)
        let after = ElementProperty(found.spec, of: found.object, element: self, name: name)
        let isTaken = after.text == wanted || after.text != before.text
        guard before.isReadable ? isTaken : warnings.isEmpty else {
            throw PipelineError(
                .badValue, element: path,
                message: "the element did not take the value \"\(text)\" of \"\(name)\""
                    + (after.text.map { ", and keeps \"\($0)\"" } ?? ""),
                debug: warnings.isEmpty ? nil : warnings.joined(separator: "; "),
                advice: "set it in the pipeline's string")
        }
        return after
    }

    /// Elements of GStreamer 1.22 whose setters free what their streaming thread reads while it fills a buffer. A
    /// change at that moment crashes the process, in any program.
    private static let unguarded: Set = ["videotestsrc"]

    /// Sets a property; of an unguarded element, on its streaming thread, after a buffer is filled.
    private func set(_ found: FoundProperty) throws(PipelineError) -> [String] {
        guard Self.unguarded.contains(factoryName), let pad = pad("src"), !pad.hasEnded,
            pointer.pointee.current_state == GST_STATE_PLAYING
        else { return found.set() }
        let warnings = Once<[String]>()
        let probe = pad.addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, _ in
            warnings.resume(found.set())
            return GST_PAD_PROBE_REMOVE
        }
        warnings.expire(after: .seconds(4).asDefaultDeadline)
        guard let warnings = warnings.wait() else {
            probe.remove()
            throw PipelineError(
                .deadlineExceeded, element: path,
                message: "\(name) takes a change only while it delivers, and has not for 4 s",
                advice: "look whether the pipeline still runs")
        }
        return warnings
    }

    /// Parses a value as gst-launch does. A pad is stated by its name, as in `active-pad=sink_1` of `input-selector`.
    private func parse(
        _ text: String, as spec: UnsafeMutablePointer<GParamSpec>, _ value: inout GValue
    ) -> Bool {
        guard value.g_type == gst_pad_get_type() else {
            return gst_value_deserialize_with_pspec(&value, text, spec) != 0
        }
        guard let pad = pad(text) else { return false }
        g_value_set_object(&value, pad.pointer)
        return true
    }

    private func find(_ name: String) throws(PipelineError) -> FoundProperty {
        let isParent = mb_is_a(pointer, gst_child_proxy_get_type()) != 0
        if name.contains("::"), isParent {
            var object: UnsafeMutablePointer<GObject>?
            var spec: UnsafeMutablePointer<GParamSpec>?
            if gst_child_proxy_lookup(OpaquePointer(pointer), name, &object, &spec) != 0,
                let object, let spec
            {
                return FoundProperty(object: object, spec: spec)
            }
        } else if let spec = mb_property(pointer, name) {
            g_object_ref(pointer)
            return FoundProperty(object: pointer.cast(), spec: spec)
        }
        throw PipelineError(
            .noSuchProperty, element: path, message: "\(self.name) has no property \"\(name)\"",
            advice: adviceForProperty(name))
    }

    /// Returns the advice for a property that the element does not have.
    func adviceForProperty(_ name: String) -> String {
        let list = "gst-inspect-1.0 \(factoryName) lists its properties"
        return Spelling.nearest(to: name, among: settableProperties.map(\.name))
            .map { "\($0)=…; \(list)" } ?? list
    }
}
