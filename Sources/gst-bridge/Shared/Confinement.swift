import Glibc
import MediaBridge

/// What `--untrusted DIR` does before any string is looked at.
struct Confinement {
    let directory: String
    /// The pipeline file, which is read from inside.
    let file: String?

    /// Starts the program anew inside of the kernel's sandbox.
    ///
    /// - Returns: What strings may ask for; only ever inside.
    /// - Throws: ``PipelineError`` where the kernel cannot do it. There is no second best: a list of
    ///   elements alone holds nothing that a damaged file makes a decoder do.
    func enter() throws(PipelineError) -> UntrustedPolicy {
        var sandbox = try Sandbox(directory: directory)
        guard Sandbox.isEntered else {
            if let file { sandbox.readable.append(file) }
            try sandbox.enterAndRestart(arguments: Array(CommandLine.arguments.dropFirst()))
        }
        return try UntrustedPolicy(directory: sandbox.directory)
    }

    /// From here on relative paths are those in the directory. After the pipeline file was read, whose
    /// path may be relative too.
    func moveInside() throws(PipelineError) {
        guard chdir(directory) == 0 else {
            throw PipelineError(
                .notFound, message: "\(directory): \(String(cString: strerror(errno)))")
        }
    }
}
