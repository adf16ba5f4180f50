import GStreamerKit
import TestSupport
import Testing

/// Parsing a string yields a pipeline, or an error that states the reason.
@Suite(.hangGuard) struct ParseTests {
    @Test(arguments: [
        "videotestsrc ! fakesink",
        "videotestsrc",
        "  videotestsrc   !\n\tfakesink  ",
        "videotestsrc ! video/x-raw,format=I420,width=64,height=48 ! fakesink",
        "videotestsrc ! \"video/x-raw, format=I420\" ! fakesink",
        "videotestsrc ! 'video/x-raw,format=(string)I420,framerate=30/1' ! fakesink",
        "videotestsrc ! capsfilter caps=\"video/x-raw,format=I420\" ! fakesink",
        "videotestsrc name=a ! tee name=t t. ! queue ! fakesink t. ! queue ! fakesink",
        "( videotestsrc ! identity ) ! fakesink",
        "bin.( videotestsrc ! identity ) ! fakesink",
        "filesrc location=/nowhere ! decodebin ! fakesink",
        "textoverlay text=\"a ! b\" ! fakesink",
        "videotestsrc num-buffers=3 pattern=ball ! fakesink sync=true",
        "fakesrc ! fakesink fakesrc ! fakesink",
        "videotestsrc ! appsink name=out",
    ])
    func validStringMakesAPipeline(text: String) throws {
        let pipeline = try Pipeline(parsing: text)
        #expect(pipeline.text == text)
        #expect(!pipeline.elements.isEmpty)
        // The helper element that was added for the parser is gone again.
        #expect(!pipeline.elements.contains { $0.name.contains("guard") })
    }

    @Test(
        arguments: [
            ("nosuchelement", .missingElement),
            ("videotestsrc ! nosuchelement ! fakesink", .missingElement),
            ("videotestsrc nosuchproperty=1 ! fakesink", .noSuchProperty),
            ("videotestsrc pattern=nosuchpattern ! fakesink", .badValue),
            ("videotestsrc num-buffers=many ! fakesink", .badValue),
            ("videotestsrc num-buffers=99999999999999999999 ! fakesink", .badValue),
            ("fakesink ! videotestsrc", .linkFailed),
            ("videotestsrc ! audioconvert ! fakesink", .linkFailed),
            ("videotestsrc ! audio/x-raw ! fakesink", .linkFailed),
            ("videotestsrc ! t. ", .linkFailed),
            ("a. ! b.", .linkFailed),
            ("videotestsrc ! \"video/x-raw\" fakesnk t. ! m.", nil),
            ("videotestsrc ! \"video/x-raw", nil),
            ("videotestsrc ! \"video/x-raw filesink location=a\" ! fakesink", nil),
            ("videotestsrc ! video/x-raw,format=( ! fakesink", nil),
            ("fakesrc name=a ! fakesink fakesrc name=a ! fakesink", .duplicateName),
            ("fakesrc.( x )", nil),
            ("( )", .syntax),
            ("()", .syntax),
            ("(", .syntax),
            (")", .syntax),
            ("( videotestsrc", .syntax),
            ("videotestsrc )", .syntax),
            ("!", .syntax),
            ("! fakesink", .syntax),
            (": fakesink", .syntax),
            ("!!", .syntax),
            ("videotestsrc !", .syntax),
            ("videotestsrc ! ! fakesink", .syntax),
            ("videotestsrc fakesink ! !", .syntax),
            ("name=a", .syntax),
            ("=", .syntax),
            (".", nil),
            (". ! fakesink", nil),
            (".src ! fakesink", nil),
            ("video/x-raw ! fakesink", nil),
            ("! video/x-raw ! fakesink", nil),
            ("", .syntax),
            ("   \n\t ", .syntax),
            ("videotestsrc\0 ! fakesink", .syntax),
            ("\0", .syntax),
        ] as [(String, PipelineError.Code?)])
    func invalidStringIsAnError(text: String, code: PipelineError.Code?) {
        let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: text) }
        if let code { #expect(error?.code == code) }
        #expect(error?.message.isEmpty == false)
    }

    /// Elements of Debian packages, without those that are installed.
    private static let missing = [
        ("edgedetect", "gstreamer1.0-opencv"), ("gtksink", "gstreamer1.0-gtk3"),
        ("qmlglsink", "gstreamer1.0-qt5"), ("wpesrc", "gstreamer1.0-wpe"),
        ("pipewiresrc", "gstreamer1.0-pipewire"),
    ].filter { (try? ElementFactory.find($0.0)) == nil }

    @Test(.enabled(if: !missing.isEmpty, "all elements are installed"), arguments: missing)
    func missingElementErrorNamesTheDebianPackage(element: String, package: String) {
        let error = #expect(throws: PipelineError.self) {
            try Pipeline(parsing: "videotestsrc ! \(element) ! fakesink")
        }
        #expect(error?.code == .missingElement)
        #expect(error?.advice == "apt install \(package)")
        #expect(error?.description.contains(element) == true)
    }

    @Test func unparsableCapsAreReportedInsteadOfTheLink() {
        let text = "videotestsrc ! video/x-raw,format=I420 videotestsrc ! fakesink"
        let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: text) }
        #expect(error?.message.contains("could not parse caps") == true)
        #expect(error?.advice?.contains("check the caps") == true)
        #expect(error?.advice?.contains("convert") == false)
    }

    @Test func unknownElementErrorMentionsTheSpelling() {
        let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: "zzqqxxkk") }
        #expect(error?.code == .missingElement)
        #expect(error?.advice?.contains("spelling") == true)
        #expect(error?.message.contains("zzqqxxkk") == true)
    }

    @Test func errorContainsTheStringAndGStreamersText() {
        let error = #expect(throws: PipelineError.self) {
            try Pipeline(parsing: "videotestsrc colour=blue")
        }
        #expect(error?.domain == "gst_parse_error")
        #expect(error?.message.contains("colour") == true)
        #expect(error?.message.hasSuffix("in: videotestsrc colour=blue") == true)
    }

    @Test(arguments: [100, 5_000]) func manyExclamationMarksAreASyntaxError(count: Int) {
        let text = String(repeating: "! ", count: count)
        for text in [text, "videotestsrc " + text, text + "fakesink"] {
            let error = #expect(throws: PipelineError.self) { try Pipeline(parsing: text) }
            #expect(error?.code == .syntax)
        }
    }

    @Test func aVeryLongWordIsAnError() {
        let error = #expect(throws: PipelineError.self) {
            try Pipeline(parsing: String(repeating: "a", count: 100_000))
        }
        #expect(error?.code == .missingElement)
    }

    @Test func longPipelineIsParsed() throws {
        let text = "fakesrc ! " + String(repeating: "identity ! ", count: 300) + "fakesink"
        #expect(try Pipeline(parsing: text).elements.count == 302)
    }

    @Test func deeplyNestedBracketsAreParsedOrRefused() {
        for depth in [10, 200] {
            let text =
                String(repeating: "( ", count: depth) + "fakesrc"
                + String(repeating: " )", count: depth)
            do throws(PipelineError) {
                let pipeline = try Pipeline(parsing: text)
                #expect(pipeline.elements.contains { $0.factoryName == "fakesrc" })
            } catch {
                #expect(error.code == .syntax, "\(error)")
            }
        }
    }

    @Test(arguments: ["( fakesrc", "fakesrc ! ", "nosuch", "fakesrc foo=1", "a. ! b."])
    func parseErrorDoesNotAffectTheNextString(bad: String) throws {
        #expect(throws: PipelineError.self) { try Pipeline(parsing: bad) }
        #expect(try Pipeline(parsing: "fakesrc ! fakesink").elements.count == 2)
    }
}
