extension Pipeline {
    /// An end without the file is no success: it was to be written, and is not there, or is empty though
    /// something was muxed into it.
    var missingFile: PipelineError? {
        let elements = elements
        let isMuxed = elements.contains { $0.klass.contains("Muxer") }
        for element in elements where element.factoryName == "filesink" {
            guard let path = element.string("location"), let problem = FileSize.missing(path) else {
                continue
            }
            if problem == .empty, !isMuxed { continue }
            return PipelineError(
                .resourceFailed, element: element.path,
                message: "\"\(path)\" was written, and \(problem.rawValue)",
                advice: "look at the disk, and at who else writes to it")
        }
        return nil
    }
}
