import MediaBridge
import TestSupport
import Testing

/// Errors in a pipeline file name the file, the line and the remedy.
@Suite("Invalid pipeline files", .hangGuard) struct PipelineFileErrorTests {
    /// The error of reading `text`, setting `values` and parsing every string.
    private func failure(
        of text: String, setting values: [String: String] = [:]
    ) -> PipelineError? {
        do throws(PipelineError) {
            _ = try Bridge(BridgePlan(yaml: text, path: "x.yaml", setting: values))
            return nil
        } catch {
            return error
        }
    }

    @Test func unknownKeyIsReportedWithItsLine() throws {
        let error = try #require(
            failure(of: "about: a\n\ncapture: videotestsrc\noutput: fakesink\n"))
        #expect(error.code == .badFile)
        #expect(error.message == "x.yaml:4: no such key: \"output\"")
        #expect(error.advice?.contains("outputs") == true)
    }

    @Test func unknownKeyOfAVariableIsReportedWithItsLine() throws {
        let error = try #require(failure(of: "variables:\n  a:\n    standard: 1\n"))
        #expect(error.code == .badFile)
        #expect(error.message.hasPrefix("x.yaml:3: ") && error.message.contains("\"standard\""))
    }

    @Test func variableWithoutAValueIsReportedWithItsLine() throws {
        let text = """
            variables:
              input: {meaning: a film}
            capture: |
              filesrc name=a
              location=${input}
            """
        let error = try #require(failure(of: text))
        #expect(error.code == .badFile)
        #expect(error.message.hasPrefix("x.yaml:5: ") && error.message.contains("${input}"))
        #expect(error.advice == "--set input=VALUE")
        #expect(failure(of: text, setting: ["input": "a"]) == nil)
    }

    @Test func undeclaredVariableIsReportedWithItsLine() throws {
        let error = try #require(
            failure(of: "capture: |\n  videotestsrc\n  num-buffers=${count}\n"))
        #expect(error.code == .badFile)
        #expect(error.message.hasPrefix("x.yaml:3: ") && error.message.contains("${count}"))
    }

    @Test func settingAnUnknownVariableListsTheDeclaredOnes() throws {
        let text = "variables:\n  a: {default: 1}\n  b: {default: 2}\ncapture: videotestsrc\n"
        let error = try #require(failure(of: text, setting: ["c": "3"]))
        #expect(error.code == .badFile)
        #expect(error.message == "x.yaml: no variable \"c\"")
        #expect(error.advice == "one of: a, b")
    }

    @Test func unknownElementIsReportedWithItsLineInTheBlock() throws {
        let text = """
            # a comment
            capture: |
              videotestsrc
              ! videoconvert
            outputs:
              window: |
                queue
                ! videoconvert
                ! nosuchsink
            """
        let error = try #require(failure(of: text))
        #expect(error.code == .missingElement)
        #expect(error.message.hasPrefix("x.yaml:9: ") && error.message.contains("nosuchsink"))
    }

    @Test func unknownPropertyIsReportedWithItsLineInTheBlock() throws {
        let error = try #require(
            failure(of: "capture: |\n  videotestsrc\n  colour=red ! videoconvert\n"))
        #expect(error.code == .noSuchProperty)
        #expect(error.message.hasPrefix("x.yaml:3: "), "\(error.message)")
    }

    /// YAML keys, each with a list that aliases the previous key twice.
    private static func doubled(_ count: Int) -> String {
        (1...count).map { "v\($0): &v\($0) [*v\($0 - 1), *v\($0 - 1)]\n" }.joined()
    }

    @Test(arguments: ["capture: [", "a: b: c", "\tcapture: x", "capture: \"open"])
    func invalidYAMLIsReportedWithItsLine(text: String) throws {
        let error = try #require(failure(of: text))
        #expect(error.code == .badFile)
        #expect(error.message.contains(/^x\.yaml:[0-9]+: not YAML/), "\(error.message)")
    }

    /// Aliases of aliases, an alias of the node that contains it, deep nesting, and a second
    /// document.
    @Test(arguments: [
        ("v: &v0 [x, x]\n" + Self.doubled(40), "too many nodes"),
        ("capture: &a [*a]", "nested too deeply"),
        (
            "capture: " + String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
            "nested"
        ),
        ("capture:\n  " + String(repeating: "[", count: 100_000), "x.yaml:2: not YAML: nested"),
        ("capture: x\n---\ncapture: y\n", "x.yaml:3: not YAML: a second document"),
        ("capture: *nothing", "undefined alias"), ("capture: \u{1}", "control characters"),
    ])
    func documentThatIsNotAPipelineFileIsReported(text: String, words: String) throws {
        let error = try #require(failure(of: text))
        #expect(error.code == .badFile)
        #expect("\(error)".contains(words), "\(error)")
    }

    @Test func aliasRepeatsTheTextOfItsAnchor() throws {
        let plan = try BridgePlan(
            yaml: "capture: &film videotestsrc num-buffers=1\noutputs: {a: *film}", path: "x.yaml")
        #expect(plan.captures.map(\.text) == ["videotestsrc num-buffers=1"])
        #expect(plan.outputs.map(\.text) == ["videotestsrc num-buffers=1"])
    }

    @Test(arguments: ["", "\n\n", "# only a comment\n"])
    func emptyFileIsReported(text: String) throws {
        let error = try #require(failure(of: text))
        #expect(error.code == .badFile)
        #expect(error.message == "x.yaml:1: the file is empty")
    }

    @Test func missingFileIsReported() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("none.yaml")
            let error = #expect(throws: PipelineError.self) { try BridgePlan(contentsOf: path) }
            #expect(error?.code == .notFound)
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test func fileThatIsNotTextIsReported() async throws {
        await #expect(throws: PipelineError.self) {
            try await Tool.check("true")
            _ = try BridgePlan(contentsOf: "/bin/true")
        }
    }

    @Test(arguments: [
        ("capture: \"\"\n", 1), ("capture: |\noutputs: {}\n", 1), ("capture: '  '\n", 1),
        ("capture: videotestsrc\noutputs:\n  a:\n", 3),
        ("capture: videotestsrc\noutputs:\n  a: |\n\n  b: fakesink\n", 3),
    ])
    func emptyStringIsReportedWithItsLine(text: String, line: Int) throws {
        let error = try #require(failure(of: text))
        #expect(error.code == .badFile)
        #expect(error.message.hasPrefix("x.yaml:\(line): "), "\(error.message)")
        #expect(error.message.hasSuffix("is empty"), "\(error.message)")
    }

    @Test(arguments: [
        ("- capture\n", "the file must consist of keys and values"),
        ("just words\n", "the file must consist of keys and values"),
        ("about: [a]\n", "about must be text"),
        ("capture: [videotestsrc]\n", "capture must consist of names and strings"),
        ("capture: {a: [b]}\n", "capture.a must be text"),
        ("outputs: fakesink\n", "outputs must consist of names and strings"),
        ("outputs: [fakesink]\n", "outputs must consist of names and strings"),
        ("filters: grayscale\n", "filters must be a list"),
        ("optional: audio\n", "optional must be a list"),
        ("queue: [3s]\n", "queue must consist of keys and values"),
        ("queue: soon\n", "no limit of a queue: \"soon\""),
        ("queue: {screen: 3s}\n", "queue has no output \"screen\""),
        ("filters: [{grayscale: 1}]\n", "an entry of filters must be text"),
        ("variables: [a]\n", "variables must consist of keys and values"),
        ("variables: {a: b}\n", "variable a must consist of keys and values"),
        ("variables: {a: {default: [1]}}\n", "a default must be text"),
    ])
    func wrongTypeIsReportedWithItsLine(text: String, message: String) throws {
        let error = try #require(failure(of: "# a comment\n" + text))
        #expect(error.code == .badFile)
        #expect(error.message == "x.yaml:2: \(message)")
    }

    @Test func unknownFilterErrorListsTheAvailableOnes() throws {
        let error = try #require(failure(of: "capture: videotestsrc\nfilters: [sepia]\n"))
        #expect(error.message.contains("sepia"))
        #expect(error.advice?.contains("grayscale") == true)
    }

    @Test func outputForAMissingStreamIsReported() throws {
        let error = try #require(
            failure(of: "capture: videotestsrc\noutputs:\n  a: appsrc name=sound ! fakesink\n"))
        #expect(error.code == .wrongEnds)
        #expect(error.message.contains("\"sound\""))
    }
}
