import MediaBridge

/// The frames of an order, encoded in advance, with a keyframe every fifteen frames.
enum PushedUnits {
    static func make(for order: VictimOrder) async throws -> [EncodedVideoFrame] {
        var units: [EncodedVideoFrame] = []
        var rest = order.pictures[...]
        while let first = rest.first {
            let same = rest.prefix { ($0.width, $0.height) == (first.width, first.height) }
            rest = rest.dropFirst(same.count)
            let source = try PipelineVideoSource(
                "videotestsrc num-buffers=\(same.count) pattern=ball ! video/x-raw,format=I420,"
                    + "width=\(first.width),height=\(first.height),framerate=30/1 ! "
                    + encoder(order.path))
            for try await unit in source.encodedFrames() { units.append(unit) }
        }
        for (index, picture) in order.pictures.enumerated() {
            units[index].runningTime = picture.time.map { MediaTime(seconds: $0) }
            units[index].decodingTime = nil
        }
        return units
    }

    private static func encoder(_ path: String) -> String {
        path.hasSuffix("webm")
            ? "vp8enc deadline=1 cpu-used=8 threads=1 keyframe-max-dist=15"
            : "x264enc tune=zerolatency key-int-max=15 option-string=scenecut=0 ! h264parse"
    }
}
