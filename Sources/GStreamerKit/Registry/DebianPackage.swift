/// Finds the Debian package that provides an element, a decoder, an encoder or a protocol handler.
package enum DebianPackage {
    /// Returns the package that provides an element, for example `gstreamer1.0-plugins-ugly` for
    /// `x264enc`; `nil` if no package is known.
    package static func providing(element name: String) -> String? {
        let families = ["avenc_", "avdec_", "avmux_", "avdemux_"]
        if families.contains(where: { name.hasPrefix($0) }) { return "gstreamer1.0-libav" }
        return (index + untold).first { $0.elements.contains(name) }?.package
            ?? HardwareElements.of(name)?.package
    }

    /// Returns the package that provides a decoder; `nil` if no package is known.
    ///
    /// - Parameter decoder: The media type that it decodes, such as `video/x-h265`.
    package static func providing(decoder: String) -> String? {
        index.first { $0.decoders.contains(decoder) }?.package
    }

    /// Returns the package that provides an encoder; `nil` if no package is known.
    ///
    /// - Parameter encoder: The media type that it produces.
    package static func providing(encoder: String) -> String? {
        index.first { $0.encoders.contains(encoder) }?.package
    }

    /// Returns the package that provides a source for a URI scheme; `nil` if no package is known.
    ///
    /// - Parameter uriScheme: For example `rtsp` or `https`.
    package static func providing(uriScheme: String) -> String? {
        index.first { $0.uriSources.contains(uriScheme) }?.package
    }

    /// Names of all elements in the index.
    static var elements: [String] { (index + untold).flatMap { $0.elements } }

    /// What one package provides.
    struct Contents: Sendable {
        let package: String
        let elements: Set<String>
        let decoders: Set<String>
        let encoders: Set<String>
        let uriSources: Set<String>

        init(
            package: String, elements: String, decoders: String = "", encoders: String = "",
            uriSources: String = ""
        ) {
            func words(_ text: String) -> Set<String> {
                Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
            }
            self.package = package
            self.elements = words(elements)
            self.decoders = words(decoders)
            self.encoders = words(encoders)
            self.uriSources = words(uriSources)
        }
    }
}
