package import FoundationEssentials

/// One line of JSON, in the form that scripts can rely on.
package enum JSONLine {
    /// Returns one JSON object, with its keys in alphabetical order. JSON requires the ASCII control
    /// characters to be escaped. The characters from U+007F to U+009F are escaped too: a terminal
    /// interprets U+009B as the start of a control sequence.
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text.unicodeScalars.map { scalar in
            (0x7f..<0xa0).contains(scalar.value)
                ? "\\u00\(String(scalar.value, radix: 16))" : String(Character(scalar))
        }.joined()
    }
}

/// A recorded file in a report.
package struct ReportedFile: Encodable {
    package let path: String
    /// When the first frame was captured: ISO 8601, UTC, with milliseconds.
    package let began: String
    package let frames: Int
    package let seconds: Double
    package let bytes: Int
    /// The marks, if there are any.
    package let marks: [ReportedMark]?

    package init(_ file: RecordedFile) {
        path = file.path
        began = file.began.inMilliseconds
        frames = file.frames
        seconds = MediaTime(file.duration).seconds.inThousandths
        bytes = file.bytes
        marks = file.marks.isEmpty ? nil : file.marks.map { ReportedMark($0) }
    }
}

/// A mark in a report.
package struct ReportedMark: Encodable {
    package let name: String
    package let seconds: Double

    init(_ mark: RecordedFile.Mark) {
        name = mark.name
        seconds = MediaTime(mark.time).seconds.inThousandths
    }
}

extension Double {
    /// The value rounded to three decimals.
    package var inThousandths: Double { (self * 1000).rounded() / 1000 }
}

extension Date {
    /// ISO 8601, UTC, with milliseconds.
    package var inMilliseconds: String {
        formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    init(nanosecondsSince1970 time: Int64) {
        self.init(timeIntervalSince1970: Double(time) / 1e9)
    }
}
