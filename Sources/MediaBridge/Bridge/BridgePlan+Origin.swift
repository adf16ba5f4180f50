extension BridgePlan.Named {
    /// Runs `body` with the string; an error gets the file and line of the string.
    func locating<R>(_ body: (String) throws(PipelineError) -> R) throws(PipelineError) -> R {
        do {
            return try body(text)
        } catch {
            throw origin?.locate(error) ?? error
        }
    }
}

extension BridgePlan.Origin {
    /// Returns the error with `file:line:` in front: the line of the first word that the message
    /// quotes and the string contains, otherwise the string's first line.
    func locate(_ error: PipelineError) -> PipelineError {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let quoted = error.message.split(separator: "\"", omittingEmptySubsequences: false)
        let named = quoted.indices.filter { $0 % 2 == 1 }.map { quoted[$0] }
        let offset = named.lazy.filter { !$0.isEmpty }.compactMap { word in
            lines.firstIndex { $0.contains(word) }
        }.first
        var located = error
        located.message = "\(file):\(line + (offset ?? 0)): \(error.message)"
        return located
    }
}
