extension Pipeline {
    /// The error for a file that was to be written and is missing, or is empty although a muxer
    /// wrote to it; `nil` if there is none. A run that ends without its file is no success.
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
                message: "\"\(path)\" was written, but \(problem.rawValue)",
                advice: "check the disk, and whether another program writes to the file")
        }
        return nil
    }
}
