internal import CMediaBridge

/// Advice for a string that GStreamer rejects: the probable intention, as far as the registry and
/// the elements' properties show it.
struct ParseAdvice {
    private let text: PipelineText

    init(_ text: PipelineText) { self.text = text }

    /// - Parameter message: GStreamer's message, which has names in double quotes, in any language.
    func advice(for code: PipelineError.Code, _ message: String) -> String? {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        let quoted = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
        guard quoted.count >= 2 else { return nil }
        if code == .noSuchProperty { return property(quoted[0], of: quoted[1]) }
        if code == .badValue {
            return value(quoted.count > 2 ? quoted[2] : "", of: quoted[0], quoted[1])
        }
        return nil
    }

    private func property(_ name: String, of factory: String) -> String? {
        guard let element = make(factory) else { return nil }
        let all = element.settableProperties.map(\.name)
        let list = "gst-inspect-1.0 \(factory) lists its properties"
        if let today = FormerNames.property(name, among: all) {
            return "\(today)=…, the new name of \(name); \(list)"
        }
        return Spelling.nearest(to: name, among: all).map { "\($0)=…; \(list)" } ?? list
    }

    private func value(_ value: String, of property: String, _ factory: String) -> String? {
        guard let element = make(factory),
            let found = element.settableProperties.first(where: { $0.name == property }),
            let values = found.values
        else { return nil }
        let nearest = Spelling.nearest(to: value, among: found.nicks).map { "\(property)=\($0); " }
        return "\(nearest ?? "")\(property) accepts \(values)"
    }

    /// Makes an element; the parser of the string has just made one of this factory, too.
    private func make(_ factory: String) -> Element? {
        guard let made = gst_element_factory_make(factory, nil) else { return nil }
        gst_object_ref_sink(made)
        return Element(adopting: made)
    }

    /// Advice for caps with a format that is none; `nil` if all are known.
    var adviceForFormats: String? {
        for word in text.words {
            guard PipelineText.isCaps(word), let place = word.firstRange(of: "format=") else {
                continue
            }
            let rest = word[place.upperBound...].drop { $0 != ")" && word[place.upperBound] == "(" }
            let format = String(
                rest.drop { $0 == ")" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            let isSound = word.hasPrefix("audio/")
            let known = isSound ? Self.soundFormats : Self.pictureFormats
            guard !format.isEmpty, !known.contains(format) else { continue }
            let nearest = known.first { $0.hasPrefix(format) }
            let meant =
                (nearest ?? Spelling.nearest(to: format, among: known)).map { "format=\($0); " }
                ?? ""
            return "\(meant)there is no format \(format)"
        }
        return nil
    }

    private static let pictureFormats = (0..<UInt32(200)).compactMap { number -> String? in
        let format = GstVideoFormat(rawValue: number)
        guard format != GST_VIDEO_FORMAT_UNKNOWN else { return nil }
        return gst_video_format_to_string(format).map { String(cString: $0) }
    }

    private static let soundFormats = (0..<UInt32(64)).compactMap { number -> String? in
        let format = GstAudioFormat(rawValue: number)
        guard format != GST_AUDIO_FORMAT_UNKNOWN else { return nil }
        return gst_audio_format_to_string(format).map { String(cString: $0) }
    }

    /// - Parameter name: A name that no element of the string has.
    func advice(forUnknown name: String) -> String {
        if let quoted = text.valueWithSpace(before: name) { return quoted }
        if let meant = Spelling.nearest(to: name, among: text.elementNames) { return "\(meant)." }
        return "put name=\(name) after the element that it refers to"
    }
}

/// A property that can be set from a string, and its permitted values.
struct SettableProperty {
    let name: String
    /// Value names, if it is an enumeration or a flags type; otherwise empty.
    let nicks: [String]
    /// A readable list or range of the permitted values; `nil` if it is not restricted.
    let values: String?
}

extension Element {
    var settableProperties: [SettableProperty] {
        specs.compactMap { spec in
            guard mb_spec_is_writable(spec) != 0, let name = g_param_spec_get_name(spec) else {
                return nil
            }
            var nicks: [String] = []
            if let list = mb_spec_nicks(spec) {
                var next = 0
                while let nick = list[next] {
                    nicks.append(String(cString: nick))
                    next += 1
                }
                g_strfreev(list)
            }
            let range = mb_spec_range(spec).map { text in
                defer { g_free(text) }
                return String(cString: text)
            }
            return SettableProperty(
                name: String(cString: name), nicks: nicks,
                values: nicks.isEmpty ? range : nicks.joined(separator: ", "))
        }
    }
}
