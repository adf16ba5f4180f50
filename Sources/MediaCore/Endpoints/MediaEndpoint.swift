/// A source or sink of the program, which an engine initialises, starts, stops and disposes of.
///
/// A class conforms to ``VideoSource``, ``AudioSource``, ``VideoSink`` or ``AudioSink``, which add what
/// they deliver or take. An engine first queries the object, once; then start and stop may repeat,
/// and so may initialise and dispose. All calls come from one caller, never overlap and are never
/// made on the main thread, so a conforming class need not be Sendable.
///
/// Source: the life cycle of Agora's `AgoraVideoSourceProtocol` and `AgoraVideoSinkProtocol`.
public protocol MediaEndpoint: AnyObject {
    /// Allocates the resources of the object. If it returns `false` or throws, the object is not
    /// started. Default `true`.
    func shouldInitialize() throws -> Bool

    /// Begins a run: a source delivers to its consumer from here on, a sink gets frames afterwards.
    /// If it throws, the object is not started. Default for sinks: does nothing.
    func shouldStart() throws

    /// Ends a run: frames that a source delivers later are discarded and counted, a sink gets no
    /// more frames. An error that it throws is reported and has no other effect. Default for sinks:
    /// does nothing.
    func shouldStop() throws

    /// Releases the resources that ``shouldInitialize()`` allocated. The consumer of a source must
    /// not be used any more. An error that it throws is reported and has no other effect. Default:
    /// does nothing.
    func shouldDispose() throws
}

extension MediaEndpoint {
    public func shouldInitialize() throws -> Bool { true }
    public func shouldDispose() throws {}
}
