/// Decodes access units into frames.
///
/// A damaged unit loses its own picture and the pictures that refer to it; decoding continues with
/// the next unit that can be decoded. If the decoder fails permanently, it calls
/// ``VideoFrameConsumer/sourceDidFail(_:)`` of its consumer, and ``decode(_:)`` then returns
/// ``DropCause/closed``.
package protocol VideoDecoder: Sendable {
    /// Accepts one access unit. Its picture is delivered to the consumer at once or later. Thread:
    /// any; calls must not overlap. Does not block.
    ///
    /// - Returns: ``DropCause/queueFull`` if too many units are queued; the unit is then lost, with
    ///   all units that refer to it. ``DropCause/undecodable`` for bytes that are not a unit of the
    ///   codec; ``DropCause/wrongBufferType`` for a unit of another codec; ``DropCause/closed``
    ///   after ``stop()``.
    func decode(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// The number of accepted units that are known to have produced no picture: damaged units, and
    /// units that refer to a missing unit.
    var lostUnits: Int { get }

    /// The number of pictures that the decoder inserted, such as repeated ones, minus the number of
    /// accepted units without a picture, such as units with only parameter sets. ``lostUnits`` and
    /// the delivered pictures therefore add up to the accepted units plus this number.
    var pictureSurplus: Int { get }

    /// Delivers the pictures that are held back for reordering. The next unit must not refer to
    /// earlier ones. Called on a queue where it may block; returns when the pictures have been
    /// delivered.
    func drain()

    /// Releases all resources; no picture is delivered afterwards. Called on a queue where it may
    /// block.
    func stop()
}

extension VideoDecoder {
    package var lostUnits: Int { 0 }
    package var pictureSurplus: Int { 0 }
    package func drain() {}
}
