internal import CMediaBridge

/// A message of a pipeline's bus, as a value.
package enum BusMessage: Sendable {
    /// Every sink has received EOS.
    case endOfStream
    /// An element, or the pipeline itself, has failed.
    case error(PipelineError)
    /// An element has posted a warning.
    case warning(PipelineError)
    /// The pipeline itself, not one of its elements, reached a state.
    case stateChanged(PipelineState)
    /// A change to PAUSED or PLAYING is complete in every element.
    case asyncDone
    /// An element's latency changed. The pipeline has already handled it.
    case latencyChanged
    /// An element message, with the element's path and the text of its structure.
    case element(path: String, structure: String)
    /// A property changed, usually the caps of a pad. Only while a bridge watches properties.
    case property(PropertyChange)
    /// Tags reached a sink, or an element found them.
    case tags(FoundTags)
}

// MARK: Values

/// A property of an element or a pad that changed, as gst-launch-1.0 prints it with `-v`.
package struct PropertyChange: Hashable, Sendable, CustomStringConvertible {
    /// Path of the element or pad, for example
    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src`
    package let path: String
    /// Name of the property, for example `caps`.
    package let name: String
    /// The new value, as GStreamer writes it.
    package let value: String

    /// One line, for example
    /// `/GstPipeline:pipeline0/GstCapsFilter:capsfilter0.GstPad:src: caps = video/x-raw, …`
    package var description: String { "\(path): \(name) = \(value)" }

    init(_ message: UnsafeMutablePointer<GstMessage>) {
        var object: UnsafeMutablePointer<GstObject>?
        var name: UnsafePointer<gchar>?
        var value: UnsafePointer<GValue>?
        gst_message_parse_property_notify(message, &object, &name, &value)
        path = object.map { Element.path(of: $0) } ?? ""
        self.name = name.map { String(cString: $0) } ?? ""
        self.value =
            value == nil ? "(no value)" : String(adopting: mb_value_text(value)) ?? "(NULL)"
    }
}

/// Tags, as gst-launch-1.0 prints them with `-t`.
package struct FoundTags: Hashable, Sendable, CustomStringConvertible {
    /// One tag with its values.
    package struct Tag: Hashable, Sendable {
        /// Human-readable name: `title`, `video codec`.
        package let name: String
        /// The values as text, as GStreamer writes them.
        package let values: [String]
    }
    /// The object that found the tags: `element "fakesink0"`, `pad "demux:src_0"`.
    package let finder: String
    /// The tags, in the order of GStreamer's tag list.
    package let tags: [Tag]

    /// One line for the finder, and one for each value.
    package var description: String {
        let lines = tags.flatMap { tag in
            tag.values.enumerated().map { index, value in
                let name = index == 0 ? tag.name : ""
                return String(repeating: " ", count: max(0, 16 - name.count)) + "\(name): \(value)"
            }
        }
        return (["FOUND TAG      : found by \(finder)."] + lines).joined(separator: "\n")
    }

    init?(_ message: UnsafeMutablePointer<GstMessage>) {
        var list: UnsafeMutablePointer<GstTagList>?
        gst_message_parse_tag(message, &list)
        guard let list else { return nil }
        defer { mb_tag_list_unref(list) }
        var found: [Tag] = []
        for index in 0..<gst_tag_list_n_tags(list) {
            guard let tag = gst_tag_list_nth_tag_name(list, UInt32(index)) else { continue }
            let values = (0..<gst_tag_list_get_tag_size(list, tag)).compactMap {
                String(adopting: mb_tag_text(list, tag, $0))
            }
            let name = gst_tag_get_nick(tag).map { String(cString: $0) } ?? String(cString: tag)
            found.append(Tag(name: name, values: values))
        }
        guard !found.isEmpty else { return nil }
        tags = found
        finder = Self.finder(message.pointee.src)
    }

    private static func finder(_ source: UnsafeMutablePointer<GstObject>?) -> String {
        guard let source, let name = String(adopting: gst_object_get_name(source)) else {
            return "unknown object"
        }
        if mb_is_a(source, gst_element_get_type()) != 0 { return "element \"\(name)\"" }
        guard mb_is_a(source, gst_pad_get_type()) != 0 else { return "object \"\(name)\"" }
        let pad = Pad(retaining: source.cast())
        return "pad \"\(pad.element?.name ?? ""):\(name)\""
    }
}

// MARK: Missed links

/// A delayed link, one that was to be made when a pad appears (`decodebin ! vp8enc`), that can
/// never be made.
package struct MissedLink: Sendable {
    /// Says what is wrong, and which streams exist instead.
    package let error: PipelineError
    /// The name of the element that waits for a stream.
    package let receiver: String
    /// Whether the receiver has a stream nevertheless.
    let isMade: Bool

    /// - Parameters:
    ///   - warning: GStreamer's `Delayed linking failed`.
    ///   - element: The element that has no such pad.
    ///   - missing: The missing plugin that was reported before, if any.
    init(_ warning: PipelineError, from element: Element?, _ missing: MissingPlugin?) {
        // "failed delayed linking some pad of GstMatroskaDemux named d to some pad of GstVP8Dec
        // named x"
        let receiver =
            (warning.debug ?? "").split(whereSeparator: \.isWhitespace).last
            .map(String.init) ?? ""
        let giver = element.map { "\"\($0.name)\" (\($0.factoryName))" } ?? "the element"
        let sibling = element?.sibling(named: receiver)
        let types = Set(element?.sourcePads.map(\.mediaType) ?? []).subtracting([""]).sorted()
        var error = warning
        error.message =
            "\(giver) has no stream for \"\(receiver)\"\(sibling?.acceptedTypes ?? "")"
            + (types.isEmpty ? "" : ": it produces \(types.joined(separator: ", "))")
        error.debug = "\(warning.message) \(warning.debug ?? "")"
        error.advice =
            missing?.advice
            ?? "use a decoder or parser for one of its streams, or remove this branch"
        self.error = error
        self.receiver = receiver
        let inputs = sibling?.pads(GST_PAD_SINK) ?? []
        isMade = !inputs.isEmpty && inputs.allSatisfy(\.isLinked)
    }
}

extension PipelineError {
    /// Whether it is GStreamer's `Delayed linking failed`, in any language.
    package var isMissedLink: Bool {
        domain == g_quark_to_string(gst_parse_error_quark()).map { String(cString: $0) }
            && domainCode == Int(GST_PARSE_ERROR_DELAYED_LINK.rawValue)
    }
}

extension Element {
    /// Returns the element of that name in the same bin; `nil` if there is none.
    fileprivate func sibling(named name: String) -> Element? {
        guard let parent = gst_object_get_parent(pointer.cast()) else { return nil }
        defer { gst_object_unref(parent) }
        guard mb_is_a(parent, gst_bin_get_type()) != 0 else { return nil }
        return gst_bin_get_by_name(parent.cast(), name).map { Element(adopting: $0) }
    }

    /// A phrase about the caps of an appsink or a capsfilter that restricts them:
    /// `, which accepts audio/x-raw`.
    fileprivate var acceptedTypes: String? {
        let caps =
            factoryName == "capsfilter"
            ? string("caps").flatMap { try? Caps($0) } : AppSink(self)?.ownCaps
        return caps.flatMap { $0.isAny ? nil : ", which accepts \($0.mediaType)" }
    }
}

extension Pad {
    /// The media type of the current or possible caps, for example `video/x-h264`; empty if it is
    /// unknown.
    package var mediaType: String {
        let type = currentOrPossibleCaps?.mediaType ?? ""
        return type == "ANY" ? "" : type
    }
}
