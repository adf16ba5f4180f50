internal import CMediaBridge

extension Caps {
    /// Fields that a muxer writes into a file's header, and cannot change afterwards. The frame
    /// rate is not among them: each unit has its own timestamp.
    private static let headerFields = [
        "width", "height", "pixel-aspect-ratio", "colorimetry", "chroma-site", "interlace-mode",
        "multiview-mode", "mastering-display-info", "content-light-level", "stream-format",
        "profile", "rate", "channels", "channel-mask",
    ]

    /// Fields that a decoder needs before the first unit: both caps must have them, or both must
    /// lack them.
    private static let decoderFields = ["codec_data", "streamheader"]

    /// Whether units of both caps can be in one stream of one file: the same codec, codec data,
    /// size, colour, pixel aspect ratio, interlacing, sample rate and channels. The frame rate may
    /// differ; a field that only one of the two has counts as equal, unless it is codec data.
    package func isSameStream(as other: Caps) -> Bool {
        if identity == other.identity { return true }
        guard mediaType == other.mediaType, let own = structure, let others = other.structure
        else { return false }
        func isEqual(_ field: String, isNeeded: Bool) -> Bool {
            let one = gst_structure_get_value(own, field)
            let two = gst_structure_get_value(others, field)
            guard let one, let two else { return !isNeeded || (one == nil && two == nil) }
            return gst_value_compare(one, two) == GST_VALUE_EQUAL
        }
        return Self.decoderFields.allSatisfy { isEqual($0, isNeeded: true) }
            && Self.headerFields.allSatisfy { isEqual($0, isNeeded: false) }
    }

    /// Whether both have the same mastering display and content light level.
    package func hasSameBrightness(as other: Caps) -> Bool {
        ["mastering-display-info", "content-light-level"].allSatisfy { field in
            text(of: field) == other.text(of: field)
        }
    }

    func unsigned(of field: String) -> UInt32? {
        var value: guint = 0
        guard let structure, gst_structure_get_uint(structure, field, &value) != 0 else {
            return nil
        }
        return value
    }

    func text(of field: String) -> String? {
        structure.flatMap { mb_structure_string($0, field) }.map { String(cString: $0) }
    }

    /// Returns a copy with another interlace mode and without the field order; the fields of a
    /// picture stay where they are in the frame.
    package func interlaced(as mode: String) -> Caps {
        guard let copy = gst_caps_copy(pointer), let structure = gst_caps_get_structure(copy, 0)
        else { return self }
        var value = GValue()
        g_value_init(&value, g_type_from_name("gchararray"))
        g_value_set_string(&value, mode)
        gst_structure_set_value(structure, "interlace-mode", &value)
        g_value_unset(&value)
        gst_structure_remove_field(structure, "field-order")
        return Caps(adopting: copy)
    }

    /// Fields of pictures and sound that a decoder requests on behalf of the elements downstream.
    private static let mediaFields: Set = [
        "width", "height", "framerate", "max-framerate", "pixel-aspect-ratio", "interlace-mode",
        "field-order", "colorimetry", "chroma-site", "multiview-mode", "multiview-flags", "views",
        "format", "rate", "channels", "channel-mask", "layout",
    ]

    /// Returns the requirements for an encoded stream with the caps `offered`: the intersection,
    /// without ranges, and without fields of pictures and sound that `offered` lacks. The caps of
    /// an encoded stream may omit its size or its rate.
    package func demands(on offered: Caps) -> Caps {
        let common = intersection(offered)
        guard let copy = withExtendedLifetime(common, { gst_caps_copy(common.pointer) }) else {
            return self
        }
        let known = offered.fields
        for index in 0..<gst_caps_get_size(copy) {
            guard let structure = gst_caps_get_structure(copy, index) else { continue }
            for field in Self.fields(of: structure)
            where Self.mediaFields.contains(field) && !known.contains(field)
                || Self.isRange(gst_structure_get_value(structure, field))
            {
                gst_structure_remove_field(structure, field)
            }
        }
        return Caps(adopting: gst_caps_simplify(copy))
    }

    /// The names of the fields of all structures.
    private var fields: Set<String> {
        let structures = (0..<gst_caps_get_size(pointer)).compactMap {
            gst_caps_get_structure(pointer, $0)
        }
        return Set(structures.flatMap { Self.fields(of: $0) })
    }

    private static func fields(of structure: UnsafeMutablePointer<GstStructure>) -> [String] {
        (0..<gst_structure_n_fields(structure)).compactMap {
            gst_structure_nth_field_name(structure, guint($0)).map { String(cString: $0) }
        }
    }

    private static func isRange(_ value: UnsafePointer<GValue>?) -> Bool {
        guard let value, let name = g_type_name(value.pointee.g_type) else { return false }
        return ["GstIntRange", "GstInt64Range", "GstDoubleRange", "GstFractionRange"]
            .contains(String(cString: name))
    }

    var structure: UnsafeMutablePointer<GstStructure>? {
        gst_caps_get_size(pointer) > 0 ? gst_caps_get_structure(pointer, 0) : nil
    }
}
