import Foundation
public import MediaBridge

/// The pipeline files that come with the project.
public enum PipelineFolder {
    public static let path = Repository.path("pipelines")

    public static var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            .filter { $0.hasSuffix(".yaml") }.sorted()
    }

    package static func file(_ name: String) throws(PipelineError) -> PipelineFile {
        try PipelineFile(path: "\(path)/\(name)")
    }

    /// The plan of a pipeline file, limited to a number of frames.
    public static func plan(
        _ name: String, setting values: [String: String] = [:], frames: Int? = nil
    ) throws(PipelineError) -> BridgePlan {
        var plan = try BridgePlan(contentsOf: "\(path)/\(name)", setting: values)
        plan.frameLimit = frames
        return plan
    }
}
