import Foundation
import MediaBridge

/// The pipeline files that come with the project.
enum PipelineFolder {
    static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("pipelines").path

    static var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { $0.hasSuffix(".yaml") }.sorted()
    }

    static func file(_ name: String) throws(PipelineError) -> PipelineFile {
        try PipelineFile(path: "\(path)/\(name)")
    }

    /// The plan of a file, ended by a number of frames.
    static func plan(
        _ name: String, setting values: [String: String] = [:], frames: Int? = nil
    ) throws(PipelineError) -> BridgePlan {
        var plan = try file(name).plan(setting: values)
        plan.frameLimit = frames
        return plan
    }
}
