import GStreamerKit
import Testing

@Suite struct ElementTests {
    @Test func elementDescribesItself() throws {
        let pipeline = try Pipeline(parsing: "videotestsrc name=v num-buffers=3 ! fakesink")
        let element = try #require(pipeline.element(named: "v"))
        #expect(element.name == "v" && element.factoryName == "videotestsrc")
        #expect(element.klass == "Source/Video")
        #expect(element.path.hasSuffix("GstVideoTestSrc:v"))
        #expect(element.hasProperty("num-buffers") && !element.hasProperty("nosuch"))
        #expect(element.pad("src")?.isLinked == true)
        #expect(element.pad("nosuch") == nil)
        #expect(element.pad("src")?.peer?.element?.factoryName == "fakesink")
    }

    @Test func propertyReadAsAnotherTypeIsNil() throws {
        let pipeline = try Pipeline(
            parsing: "filesrc name=f location=/nowhere num-buffers=321 ! fakesink name=s")
        let (file, sink) = (
            try #require(pipeline.element(named: "f")), try #require(pipeline.element(named: "s"))
        )
        #expect(file.string("location") == "/nowhere")
        for property in ["num-buffers", "do-timestamp", "blocksize", "parent", "nosuch"] {
            #expect(file.string(property) == nil)
        }
        #expect(file.uint("blocksize") == 4096)
        #expect(file.uint("location") == 0 && file.uint("nosuch") == 0)
        #expect(!file.bool("location") && !file.bool("nosuch"))
        #expect(sink.bool("async"))
    }

    @Test func settingAnUnknownPropertyChangesNothing() throws {
        let pipeline = try Pipeline(parsing: "fakesink name=s")
        let sink = try #require(pipeline.element(named: "s"))
        sink.set("nosuch", "1")
        sink.set("sync", "true")
        #expect(sink.bool("sync"))
        #expect(sink.sinkStatistics?.rendered == 0)
    }

    @Test func theGraphNamesItsElements() throws {
        let pipeline = try Pipeline(parsing: "videotestsrc name=v ! fakesink name=s")
        #expect(pipeline.dot.hasPrefix("digraph"))
        #expect(pipeline.dot.contains("GstVideoTestSrc"))
    }
}
