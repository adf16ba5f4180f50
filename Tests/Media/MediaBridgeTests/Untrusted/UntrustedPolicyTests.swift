import CMediaBridge
import Foundation
import MediaBridge
import TestSupport
import Testing

/// The policy for untrusted pipelines in a program that is not sandboxed.
@Suite(.hangGuard) struct UntrustedPolicyTests {
    private static let picture = "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48"

    @Test func untrustedPlanRunsWithinItsDirectory() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(
                capture: Self.picture,
                outputs: ["x264enc ! matroskamux ! filesink location=\(directory.file("a.mkv"))"])
            plan.untrusted = try UntrustedPolicy(directory: directory.path)
            try await Bridge(plan).run().get()
            #expect(try await MediaProbe(of: directory.file("a.mkv")).video?.frames == 3)
        }
    }

    @Test(arguments: ["filesink location=/tmp/outside-of-it", "udpsink", "filesink location=here"])
    func untrustedPlanIsRefusedOutsideItsDirectory(output: String) async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: Self.picture, outputs: [output])
            plan.untrusted = try UntrustedPolicy(directory: directory.path)
            #expect { try Bridge(plan) } throws: { ($0 as? PipelineError)?.code == .refused }
        }
    }

    @Test func sourcesAndSinksApplyThePolicy() async throws {
        try await withTemporaryDirectory { directory in
            let policy = try UntrustedPolicy(directory: directory.path)
            var reading = PipelineVideoSource.Configuration()
            reading.untrusted = policy
            #expect { try PipelineVideoSource("udpsrc", configuration: reading) } throws: {
                ($0 as? PipelineError)?.code == .refused
            }
            var writing = PipelineVideoSink.Configuration()
            writing.untrusted = policy
            #expect { try PipelineVideoSink("udpsink", configuration: writing) } throws: {
                ($0 as? PipelineError)?.code == .refused
            }
        }
    }

    /// Encoders write such files into the working directory, which belongs to the program.
    @Test func filesNamedByElementsGoIntoTheDirectory() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(
                capture: Self.picture, outputs: ["x264enc pass=pass1 name=e ! fakesink"])
            plan.untrusted = try UntrustedPolicy(directory: directory.path)
            try await Bridge(plan).run().get()
            #expect(directory.contents.contains(".e-multipass-cache-file"))
            #expect(!FileManager.default.fileExists(atPath: "x264.log"))
        }
    }

    /// Another version of GStreamer may add properties that have not been reviewed. They are
    /// refused when they are set, and this test names them.
    @Test func everyStringPropertyOfAPermittedElementIsKnown() async throws {
        let known: Set<String> = [
            // Refused when they are set.
            "option-string", "uri", "omx-libname", "omx-libprefix",
            // File properties and harmless properties.
            "location", "temp-template", "faststart-file", "moov-recovery-file",
            "multipass-cache-file", "text", "font-desc", "subtitle-font-desc", "subtitle-encoding",
            "datetime-format", "time-format", "pattern", "format", "tags", "writing-app",
            "metadatacreator", "encoder", "boundary", "colorimetry", "target-timecode-string",
            "dump-separator", "gop-timecode", "layer-rates", "vendor", "rc-eq",
        ]
        let policy = try UntrustedPolicy(directory: "/tmp")
        for factory in try Self.factories(permittedBy: policy) {
            guard let element = try Self.make(factory) else { continue }
            for property in element.textProperties {
                #expect(known.contains(property.name), "\(factory) has \(property.name)")
            }
        }
    }

    /// A string could create any element as the value of such a property before the policy sees it,
    /// and a property that cannot be read cannot be judged.
    @Test func noPermittedElementHasPropertiesThatHoldElementsOrCannotBeRead() throws {
        let policy = try UntrustedPolicy(directory: "/tmp")
        for factory in try Self.factories(permittedBy: policy) {
            guard let element = try Self.make(factory) else { continue }
            #expect(element.propertyElements.isEmpty, "\(factory)")
            // Harmless with any value.
            let harmless = ["tags", "font-desc", "colorimetry"]
            for property in element.textProperties
            where !property.isReadable && !harmless.contains(property.name) {
                Issue.record("\(factory) has \(property.name), which can only be written")
            }
            guard let raw = gst_element_factory_make(factory, nil) else { continue }
            gst_object_ref_sink(raw)
            defer { gst_object_unref(raw) }
            var count: guint = 0
            guard let specs = mb_properties(raw, &count) else { continue }
            defer { g_free(specs) }
            for index in 0..<Int(count) where mb_spec_is_element(specs[index]) != 0 {
                Issue.record("\(factory) takes an element in a property")
            }
        }
    }

    @Test func permittedElementsOpenNoNetworkOrDevice() throws {
        let policy = try UntrustedPolicy(directory: "/tmp")
        for factory in try Self.factories(permittedBy: policy) {
            let klass = try ElementFactory.find(factory)?.klass ?? ""
            #expect(!klass.contains("Network"), "\(factory) is \(klass)")
            #expect(!klass.contains("Device"), "\(factory) is \(klass)")
            #expect(klass != "Sink/Video" || factory == "fakevideosink", "\(factory) is \(klass)")
        }
    }

    @Test(
        arguments: [
            ("a", true), ("sub/../a", true), ("../a", false), ("", false), ("/etc/passwd", false),
            ("link/a", false), ("circle/a", false), ("nowhere/../../a", false), ("inner/a", true),
        ])
    func pathIsResolvedAsTheKernelDoes(path: String, isInside: Bool) async throws {
        try await withTemporaryDirectory { base in
            let directory = base.file("in")
            let files = FileManager.default
            try files.createDirectory(atPath: directory, withIntermediateDirectories: false)
            for (link, target) in [("link", base.path), ("circle", "circle"), ("inner", ".")] {
                try files.createSymbolicLink(
                    atPath: "\(directory)/\(link)", withDestinationPath: target)
            }
            let full = path.hasPrefix("/") ? path : "\(directory)/\(path)"
            var configuration = PipelineVideoSink.Configuration()
            configuration.untrusted = try UntrustedPolicy(directory: directory)
            let text = "filesink location=\(full)"
            if isInside {
                _ = try PipelineVideoSink(text, configuration: configuration)
            } else {
                #expect { try PipelineVideoSink(text, configuration: configuration) } throws: {
                    ($0 as? PipelineError)?.code == .refused
                }
            }
        }
    }

    // MARK: The registry

    /// The names of the element factories that a policy permits.
    private static func factories(permittedBy policy: UntrustedPolicy) throws -> [String] {
        let permitted = try factories.filter { policy.allows(factory: $0.0, plugin: $0.1) }
        try #require(permitted.count > 50)
        return permitted.map(\.0)
    }

    private static var factories: [(String, String)] {
        get throws {
            try GStreamer.initialize()
            let list = gst_registry_get_feature_list(
                gst_registry_get(), gst_element_factory_get_type())
            defer { gst_plugin_feature_list_free(list) }
            var found: [(String, String)] = []
            var next = list
            while let node = next {
                let factory = OpaquePointer(node.pointee.data!)
                // The classes of this program are elements without a plugin.
                if let plugin = mb_factory_plugin(factory) {
                    found.append(
                        (String(cString: mb_factory_name(factory)), String(cString: plugin)))
                }
                next = node.pointee.next
            }
            return found
        }
    }

    /// `nil` if the element can be created only under special conditions.
    private static func make(_ factory: String) throws -> Element? {
        guard !["bin", "pipeline"].contains(factory) else { return nil }
        return try? Pipeline(parsing: "\(factory) name=it").element(named: "it")
    }
}
