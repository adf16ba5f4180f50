internal import Glibc
internal import MediaBasics
internal import MediaBridge

/// The steps of `--untrusted DIR` before any string is parsed.
struct Confinement {
    let directory: String
    /// The pipeline file, which is read inside the sandbox.
    let file: String?

    /// Restarts the program inside the kernel's sandbox.
    ///
    /// - Returns: What strings may use. It returns only inside the sandbox.
    /// - Throws: ``PipelineError`` if the kernel does not support it. There is no fallback: a list
    ///   of permitted elements does not by itself protect against a damaged file that exploits a
    ///   decoder.
    func enter() throws(PipelineError) -> UntrustedPolicy {
        let policy = try UntrustedPolicy(directory: directory)
        guard UntrustedPolicy.isSandboxed else {
            try policy.restartInSandbox(
                arguments: Array(CommandLine.arguments.dropFirst()),
                readable: [file].compactMap { $0 })
        }
        return policy
    }

    /// Makes the sandbox directory the base of relative paths. Call it after reading the pipeline
    /// file, whose path may be relative to the previous directory.
    func moveInside() throws(PipelineError) {
        guard chdir(directory) == 0 else {
            throw PipelineError(.notFound, message: "\(directory): \(systemErrorText())")
        }
    }
}
