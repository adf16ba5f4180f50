import Testing

@testable import gst_bridge_network

/// The names of files from the names of senders, which are untrusted input.
struct RecordingDirectoryTests {
    /// Letters, prepended letters and signs, marks, joiners, controls, and characters with a meaning in paths and
    /// strings.
    private static let scalars =
        "aZ\u{e9}7\u{0d4e}\u{110c2}\u{110bd}\u{0600}\u{0301}\u{0903}\u{200d}"
        + "\u{fe0f}\u{1f1e6}\u{a9}\n\r\u{85}\u{2028}\0 /.%!\"'\\-_"

    /// Checks all names of three of the scalars.
    @Test func safeNamesContainNoSpecialCharacters() {
        let scalars = Array(Self.scalars.unicodeScalars)
        for first in scalars {
            for second in scalars {
                for third in scalars {
                    var name = String.UnicodeScalarView()
                    name.append(contentsOf: [first, second, third])
                    let safe = RecordingDirectory.safe(String(name))
                    let isPlain = safe.unicodeScalars.allSatisfy { scalar in
                        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                            || scalar.properties.generalCategory == .nonspacingMark
                            || scalar == "-" || scalar == "_"
                    }
                    #expect(isPlain, "\(name.map(\.value))")
                    // No scalar joins the text around the name.
                    #expect("/\(safe)".first == "/" && !safe.isEmpty, "\(name.map(\.value))")
                }
            }
        }
    }

    @Test func namesInAllScriptsAreKept() {
        for name in ["anna", "Zoë", "हिन्दी", "李小龍", "café-2_b"] {
            #expect(RecordingDirectory.safe(name) == name)
        }
        #expect(RecordingDirectory.safe("") == "sender")
        #expect(RecordingDirectory.safe(String(repeating: "é", count: 500)).utf8.count <= 160)
    }
}
