/// A recording as picture files with numbers: `frames-%06d.png`.
package struct PictureSequence {
    private let path: String
    /// The text in front of the number and behind it, and the least number of digits.
    private let (start, end): (String, String)
    private let digits: Int
    private let format: PictureFile

    /// `nil` for the path of any other recording.
    package init?(path: String) {
        guard let format = PictureFile(path: path),
            let sign = path.firstIndex(of: "%"),
            let letter = path[sign...].firstIndex(of: "d")
        else { return nil }
        let number = path[path.index(after: sign)..<letter]
        guard number.isEmpty || number.hasPrefix("0"), number.allSatisfy(\.isASCII),
            let digits = Int(number.isEmpty ? "1" : number), digits < 20,
            !path[letter...].contains("%")
        else { return nil }
        self.path = path
        (start, end) = (String(path[..<sign]), String(path[path.index(after: letter)...]))
        self.digits = digits
        self.format = format
    }

    /// The string that writes the pictures.
    package func output(_ quality: VideoQuality?) throws -> String {
        try "appsrc name=video ! videoconvert ! \(format.encoder(quality)) ! "
            + VariableText("multifilesink location=${path}").filled(with: ["path": path])
    }

    private func file(_ number: Int) -> String {
        let text = String(number)
        return start + String(repeating: "0", count: max(0, digits - text.count)) + text + end
    }

    /// Throws if pictures cannot be written, or would replace others.
    package func check(overwrites: Bool) throws {
        try FileSize.requireUsableName(path)
        try DiskSpace.check(file(0))
        if !overwrites { try FileSize.requireNone(at: file(0)) }
    }

    /// Returns what is in the directory after the end, in words, and whether all pictures are there.
    package func result(_ count: Int) -> (isComplete: Bool, news: [String]) {
        var news: [String] = []
        var failure: PipelineError?
        for path in (0..<count).map(file) where failure == nil {
            do throws(PipelineError) {
                guard FileSize.of(path) != nil else {
                    throw PipelineError(.notFound, message: "\(path) was written, and is missing")
                }
                try format.check(path)
            } catch { failure = error }
        }
        if let failure {
            news.append("\(failure)")
        } else if count > 0 {
            news.append("\(file(0)) to \(file(count - 1)): \(count) pictures")
        }
        if FileSize.of(file(count)) != nil {
            news.append("\(file(count)) and those behind it are of an earlier recording")
        }
        return (failure == nil, news)
    }
}
