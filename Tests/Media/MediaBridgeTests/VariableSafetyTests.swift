import Foundation
import MediaBridge
import TestSupport
import Testing

/// A value set by a user stays within one word of the pipeline string.
@Suite("Values of variables", .hangGuard) struct VariableSafetyTests {
    /// Injection attempts and realistic file names.
    static let values = [
        "x ! filesink location=/tmp/owned", "a\" ! filesink location=/tmp/owned", "$(touch x)",
        "a b", "it's", "back\\slash", "new\nline", "", "zażółć 日本 🎞", "\" name=\"x", "' name='x",
        "a\\ b", "\\", "a\\\\", "x\\\" ! identity", "x\u{301} identity", "x \u{301}identity",
        "x\"\u{301} ! identity name=\"y", "x'\u{301} ! identity name='y", "x\u{a0}identity",
        "x\u{2003}identity", "x\u{2028}identity", "x\u{85}identity", "x\tidentity", "x\r\nidentity",
        "1:identity", "1!identity", "1\\!identity", "a,b=c", "a;b#c(d)e[f]{g}", "mux. ! identity",
        "${value}", "(identity)", "=", "a=b", "x\u{0}identity", "\"", "\"\"", "'quoted'",
        "\"quoted\"", "-", "~/a%05d.mkv", "x\u{7f}",
    ]

    /// Strings with a variable where authors put one, some of them badly, and their expected
    /// elements.
    static let templates: [(text: String, factories: [String])] = [
        ("fakesrc ! filesink name=end location=${value}", ["fakesrc", "filesink"]),
        ("fakesrc ! filesink location=${value} name=end", ["fakesrc", "filesink"]),
        ("fakesrc ! filesink location=a${value}b name=end", ["fakesrc", "filesink"]),
        ("fakesrc ! filesink location=${value}${value} name=end", ["fakesrc", "filesink"]),
        ("fakesrc ! filesink location = ${value} name=end", ["fakesrc", "filesink"]),
        ("filesrc location=${value} ! fakesink name=end", ["fakesink", "filesrc"]),
        ("fakesrc ! filesink location=\"${value}\" name=end", ["fakesrc", "filesink"]),
        ("fakesrc ! filesink location='${value}' name=\"end\"", ["fakesrc", "filesink"]),
        // Quotes in the middle of a word mean nothing to GStreamer.
        ("fakesrc ! filesink location=a\"${value}\" name=end", ["fakesrc", "filesink"]),
        (
            "fakesrc ! textoverlay text=it's ! filesink location=${value} name=end",
            ["fakesrc", "filesink", "textoverlay"]
        ),
        ("fakesrc ! video/x-raw,width=${value}", ["capsfilter", "fakesrc"]),
        (
            "fakesrc ! video/x-raw, width=${value} ! fakesink",
            ["capsfilter", "fakesink", "fakesrc"]
        ),
        ("fakesrc ! video/x-raw,format=\"${value}\"", ["capsfilter", "fakesrc"]),
        ("fakesrc ! capsfilter caps=video/x-raw,width=${value}", ["capsfilter", "fakesrc"]),
        ("fakesrc ! capsfilter caps=\"video/x-raw,width=${value}\"", ["capsfilter", "fakesrc"]),
        ("fakesrc ! ${value}", ["fakesrc"]),
        ("fakesrc ! identity ${value}", ["fakesrc", "identity"]),
        ("fakesrc ! identity ${value}=1", ["fakesrc", "identity"]),
    ]

    /// The string of a pipeline file with `value` substituted.
    private func filled(_ template: String, _ value: String) throws(PipelineError) -> String {
        let lines = template.split(separator: "\n").map { "  \($0)\n" }.joined()
        let plan = try BridgePlan(
            yaml: "variables:\n  value: {meaning: any}\ncapture: |\n\(lines)", path: "x.yaml",
            setting: ["value": value])
        return plan.captures[0].text
    }

    @Test("never add an element", arguments: values)
    func neverAddAnElement(value: String) throws {
        for (template, factories) in Self.templates {
            let text: String
            // A refusal with a reason is just as safe.
            do { text = try filled(template, value) } catch {
                #expect(error.code == .badFile)
                continue
            }
            guard let pipeline = try? Pipeline(parsing: text) else { continue }
            let found = pipeline.elements.map(\.factoryName).sorted()
            #expect(found == factories, "\(template) with \(value.debugDescription): \(text)")
        }
    }

    @Test("never add an element, for random values") func neverAddAnElementByChance() throws {
        let scraps = [
            " ", "!", "\"", "'", "\\", "=", ":", ";", ".", ",", "/", "(", ")", "a", "1", "identity",
            "name=x", "\u{301}", "\u{a0}", "mux.", "é",
        ]
        // The same sequence every time.
        var seed: UInt64 = 42
        func next(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        var parsed = 0
        for _ in 0..<100 {
            let value = (0...next(6)).map { _ in scraps[next(scraps.count)] }.joined()
            for (template, factories) in Self.templates {
                guard let text = try? filled(template, value),
                    let pipeline = try? Pipeline(parsing: text)
                else { continue }
                parsed += 1
                let found = pipeline.elements.map(\.factoryName).sorted()
                // If the string leaves an element open, a value may name it.
                let open = template.hasSuffix(" ${value}") ? ["identity"] : []
                #expect(
                    found == factories || found == (factories + open).sorted(),
                    "\(template) with \(value.debugDescription): \(text)")
            }
        }
        #expect(parsed > 300)
    }

    @Test(
        "arrive as they are as an unquoted property",
        arguments: [
            "a b", "it's", "back\\slash", "two  spaces", "x ! filesink location=/tmp/owned",
            "a\" ! filesink location=/tmp/owned", "$(touch x)", "zażółć 日本 🎞", "\"quoted\"",
            "'quoted'", " leading", "trailing ", "a=b", "a;b#c(d)e[f]{g}", "a\\ b", "\\\\server\\x",
            "x\u{301} y", "x \u{301}y", "x\u{a0}y", "", "~/a%05d.mkv", "!", "\"", "a\"b",
            "${value}",
            "\\", "a\\", "a b\\", "é\\", "NULL", "\"\"", "\"é b\\", "\"a\\\"",
        ])
    func arriveUnquoted(value: String) throws {
        for template in [
            "filesrc name=end location=${value}", "filesrc location=${value} name=end",
        ] {
            let pipeline = try Pipeline(parsing: filled(template + " ! fakesink", value))
            let location = pipeline.element(named: "end")?.string("location") ?? ""
            #expect(Array(location.utf8) == Array(value.utf8))
        }
    }

    @Test(
        "arrive as they are inside of double quotes, or are refused",
        arguments: ["a b", "it's", "zażółć 日本", "x ! identity", "", "a;b", "x\u{301} y"])
    func arriveQuoted(value: String) throws {
        let text = try filled("filesrc location=\"${value}\" name=end ! fakesink", value)
        let location = try Pipeline(parsing: text).element(named: "end")?.string("location") ?? ""
        #expect(Array(location.utf8) == Array(value.utf8))
    }

    @Test(
        "are refused where they would end the quotes",
        arguments: ["a\"b", "back\\slash", "a\"\u{301}b", "new\nline"])
    func areRefusedInQuotes(value: String) throws {
        let error = #expect(throws: PipelineError.self) {
            try filled("filesrc location=\"${value}\" ! fakesink", value)
        }
        #expect(error?.code == .badFile)
        #expect(error?.message.hasPrefix("x.yaml:4: ") == true, "\(String(describing: error))")
    }

    @Test("are joined to the text beside them") func joinOn() throws {
        let text = try filled(
            "filesrc name=end location=/a/${value}/b-${value}.mkv ! fakesink", "x y")
        let pipeline = try Pipeline(parsing: text)
        #expect(pipeline.element(named: "end")?.string("location") == "/a/x y/b-x y.mkv")
        let empty = try filled("filesrc name=end location=${value}/b ! fakesink", "")
        #expect(try Pipeline(parsing: empty).element(named: "end")?.string("location") == "/b")
    }

    @Test("may end in a backslash only inside a word") func endInABackslash() throws {
        let error = #expect(throws: PipelineError.self) {
            try filled("filesrc location=a${value} ! fakesink", "b\\")
        }
        #expect(error?.code == .badFile)
        let text = try filled("filesrc name=end location=a${value}c ! fakesink", "b\\")
        #expect(try Pipeline(parsing: text).element(named: "end")?.string("location") == "ab\\c")
    }

    @Test("fill caps with numbers, fractions and words", arguments: ["I420", "NV12", "RGBA_64"])
    func standInCaps(value: String) throws {
        let template = "videotestsrc ! video/x-raw, format=${value}, framerate=30/1 ! fakesink"
        #expect(try filled(template, value).contains("format=\(value),"))
        #expect(throws: PipelineError.self) { try filled(template, "I420,width=1") }
        #expect(
            try filled("videotestsrc ! video/x-raw,framerate=${value}", "30000/1001")
                .contains("30000/1001"))
    }

    @Test("can name an element, and only one") func nameAnElement() throws {
        let text = try filled("fakesrc ! ${value} ! fakesink", "identity")
        #expect(try Pipeline(parsing: text).elements.count == 3)
        #expect(throws: PipelineError.self) {
            try filled("fakesrc ! ${value} ! fakesink", "identity ! identity")
        }
    }

    @Test(
        "are the names of files that are written",
        arguments: [
            "a b.mkv", "it's.mkv", "back\\slash.mkv", "say \"hi\".mkv", "x ! y.mkv", "日本.mkv",
        ])
    func nameFiles(name: String) async throws {
        try await withTemporaryDirectory { directory in
            let plan = try PipelineFolder.plan(
                "test-to-file.yaml", setting: ["file": directory.file(name)], frames: 2)
            let report = try await Bridge(plan).run().get()
            expectBalanced(report)
            #expect(directory.contents == [name])
            #expect((report.outputs["file"]?.bytes ?? 0) > 0)
        }
    }

    @Test("do not change a string whose appsink has no name") func keepWordsApart() throws {
        // Such a string is rewritten word by word; white space beyond ASCII is part of a word.
        let text = try filled("filesrc name=end location=${value} ! appsink", "x\u{2003}identity")
        let source = try PipelineVideoSource(text)
        let location = source.pipeline.element(named: "end")?.string("location")
        #expect(location == "x\u{2003}identity")
    }
}
