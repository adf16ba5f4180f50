import Foundation
import MediaBridge
import TestSupport
import Testing

/// Checks every file of the folder without running it.
@Suite("The pipelines folder", .hangGuard) struct PipelineFolderTests {
    @Test func isNotEmpty() {
        #expect(PipelineFolder.names.count >= 11)
        #expect(PipelineFolder.names.contains("demo.yaml"))
    }

    @Test("parses in GStreamer, string by string", arguments: PipelineFolder.names)
    func parses(name: String) throws {
        let file = try PipelineFolder.file(name)
        var values: [String: String] = [:]
        for variable in file.variables where variable.defaultValue == nil {
            values[variable.name] = "placeholder"
        }
        var plan = try file.plan(setting: values)
        if plan.captures.isEmpty {
            plan.captures = BridgePlan(capture: "videotestsrc").captures
        }
        // An address is not a pipeline string: it is connected beforehand.
        let isAddress = { (named: BridgePlan.Named) in named.text.contains(/^wh[ei]p:/) }
        plan.captures = plan.captures.map { named in
            isAddress(named) ? BridgePlan.Named(name: named.name, text: "videotestsrc") : named
        }
        plan.outputs.removeAll(where: isAddress)
        _ = try Bridge(plan)
    }

    @Test("explains its purpose and each variable", arguments: PipelineFolder.names)
    func isExplained(name: String) throws {
        let file = try PipelineFolder.file(name)
        #expect(!file.about.isEmpty)
        #expect(file.variables.allSatisfy { !$0.meaning.isEmpty })
        #expect(!file.outputs.isEmpty)
        let text = try String(contentsOfFile: "\(PipelineFolder.path)/\(name)", encoding: .utf8)
        #expect(text.hasPrefix("# "))
        #expect(text.contains("gst-bridge run pipelines/\(name)"))
    }

    @Test("uses every variable it declares", arguments: PipelineFolder.names)
    func usesItsVariables(name: String) throws {
        let file = try PipelineFolder.file(name)
        let strings = (file.captures + file.outputs).map(\.text).joined()
        for variable in file.variables { #expect(strings.contains("${\(variable.name)}")) }
    }

    @Test("writes strings as blocks that paste to and from gst-launch")
    func writesBlocks() throws {
        for name in PipelineFolder.names {
            let text = try String(contentsOfFile: "\(PipelineFolder.path)/\(name)", encoding: .utf8)
            let file = try PipelineFolder.file(name)
            for named in file.captures + file.outputs {
                let line = try #require(named.origin?.line)
                let above = text.split(separator: "\n", omittingEmptySubsequences: false)[line - 2]
                #expect(above.hasSuffix("|"), "\(name):\(line)")
            }
        }
    }

    @Test("the demo has no fixed capture") func demoHasNoFixedCapture() throws {
        #expect(try PipelineFolder.file("demo.yaml").captures.isEmpty)
    }
}
