internal import CMediaBridge

/// Finds the Debian package that provides an element, a decoder, an encoder or a protocol handler.
package enum DebianPackage {
    /// Returns the package that provides an element, for example `gstreamer1.0-plugins-ugly` for
    /// `x264enc`; `nil` if no package is known.
    package static func providing(element name: String) -> String? {
        let families = ["avenc_", "avdec_", "avmux_", "avdemux_"]
        if families.contains(where: { name.hasPrefix($0) }) { return "gstreamer1.0-libav" }
        return package(with: name, in: "Gstreamer-Elements")
            ?? package(with: name, in: "Hardware-Elements")
    }

    /// Returns the package that provides what is missing; `nil` if no package is known.
    static func providing(_ missing: MissingPlugin) -> String? {
        switch missing.kind {
        case .element, .other: providing(element: missing.name)
        case .decoder: package(with: missing.name, in: "Gstreamer-Decoders")
        case .encoder: package(with: missing.name, in: "Gstreamer-Encoders")
        case .uriSource: package(with: missing.name, in: "Gstreamer-Uri-Sources")
        }
    }

    /// Names of all elements in the index.
    static var elements: [String] {
        index.flatMap { $0.fields["Gstreamer-Elements"] ?? [] }.map(String.init)
    }

    /// Returns what to do to get an element that its plugin provides only on a machine with certain
    /// hardware; `nil` for any other element.
    static func adviceForHardware(_ element: String) -> String? {
        guard let found = stanza(with: element, in: "Hardware-Elements"),
            let package = found.text(of: "Package"), let plugin = found.text(of: "Plugin"),
            let hardware = found.text(of: "Hardware")
        else { return nil }
        guard let installed = gst_registry_find_plugin(gst_registry_get(), plugin) else {
            return "apt install \(package), which provides it only on a machine with \(hardware)"
        }
        gst_object_unref(UnsafeMutableRawPointer(installed))
        return "its plugin (\(plugin), of \(package)) is installed, but provides it only if it "
            + "finds \(hardware); gst-inspect-1.0 \(plugin) lists its elements"
    }

    private static func package(with name: String, in field: Substring) -> String? {
        stanza(with: name, in: field)?.text(of: "Package")
    }

    private static func stanza(with name: String, in field: Substring) -> Stanza? {
        index.first { $0.fields[field]?.contains(name[...]) == true }
    }

    /// The words of each field of a package.
    private struct Stanza {
        var fields: [Substring: [Substring]] = [:]

        func text(of field: Substring) -> String? { fields[field]?.joined(separator: " ") }

        init(_ text: Substring) {
            var field = Substring()
            for word in text.split(whereSeparator: \.isWhitespace) {
                if word.last == ":" {
                    field = word.dropLast()
                } else {
                    fields[field, default: []].append(word)
                }
            }
        }
    }
    private static let index = String(decoding: PackageResources.packages_txt, as: UTF8.self)
        .split(separator: "\n\n").map(Stanza.init)
}
