/// Checks of string properties: each is known to be harmless, or is a file path, or is refused.
extension UntrustedPolicy {
    /// Text and numbers that no element uses as a file, a host or a command.
    static let harmless: Set<String> = [
        "text", "font-desc", "subtitle-font-desc", "subtitle-encoding", "datetime-format",
        "time-format", "pattern", "format", "tags", "writing-app", "metadatacreator", "encoder",
        "boundary", "colorimetry", "target-timecode-string", "dump-separator", "gop-timecode",
        "layer-rates", "vendor", "rc-eq",
    ]

    /// Paths of files that are read or written.
    static let paths: Set<String> = [
        "location", "temp-template", "faststart-file", "moov-recovery-file", "multipass-cache-file",
    ]

    func judge(_ property: ElementProperty, of element: Element) throws(PipelineError) {
        if Self.harmless.contains(property.name) { return }
        if element.factoryName == "dataurisrc", property.name == "uri" { return }  // its own bytes
        let isSet =
            property.text != nil && property.text != "" && property.text != property.defaultText
        if Self.paths.contains(property.name) {
            // Properties that `confine` sets need no check unless the string set them.
            if !isSet, Self.confined.contains(property.name) { return }
            guard let path = property.text, !path.isEmpty else { return }
            try judge(path: path, property, of: element)
        } else if isSet {
            throw PipelineError(
                .refused, element: element.path,
                message:
                    "\"\(property.name)\" of \(element.factoryName) is not allowed in an untrusted "
                    + "pipeline",
                advice: "remove it")
        }
    }

    private func judge(
        path: String, _ property: ElementProperty, of element: Element
    ) throws(PipelineError) {
        var asked = path
        if Self.numbering.contains(element.factoryName), path.contains("%") {
            guard let numbered = NumberedPath(path) else {
                throw PipelineError(
                    .refused, element: element.path,
                    message:
                        "\"\(path)\" is not the name of numbered files, which has one %05d in the "
                        + "file name and no other %", advice: "a name like img%05d.png")
            }
            if let link = numbered.link {
                throw PipelineError(
                    .refused, element: element.path,
                    message: "\"\(link)\" is a link, and one of the files that \"\(path)\" names",
                    advice: "remove it, or use another name")
            }
            asked = numbered.example
        }
        // Bytes that are not valid UTF-8 were decoded to this character, so the real path is
        // another one.
        guard !asked.unicodeScalars.contains("\u{fffd}"), ResolvedPath(asked).isInside(directory)
        else { throw outside(path, of: element) }
    }

    /// Elements that insert a number into their location.
    private static let numbering: Set<String> = [
        "multifilesrc", "multifilesink", "imagesequencesrc",
    ]

    /// Files that elements would otherwise name themselves, in the working directory or among the
    /// system's temporary files.
    private static let confined: Set<String> = ["multipass-cache-file", "faststart-file"]

    /// Sets these properties to names in the directory.
    func confine(_ element: Element) throws(PipelineError) {
        for property in element.textProperties where Self.confined.contains(property.name) {
            let isOwn = property.text == nil || property.text == property.defaultText
            guard isOwn || property.text == "" else { continue }
            // An element may have any name, including one with the characters of a path.
            let name = String(element.name.map { $0.isLetter || $0.isNumber ? $0 : "-" })
            element.set(literally: property.name, "\(directory)/.\(name)-\(property.name)")
        }
    }
}
