internal import CMediaBridge

extension Caps {
    /// The device memory that the first structure requires: `GLMemory`, `DMABuf` …; `nil` for
    /// system memory.
    package var deviceMemory: String? {
        guard gst_caps_get_size(pointer) > 0, let features = gst_caps_get_features(pointer, 0)
        else {
            return nil
        }
        return (0..<gst_caps_features_get_size(features)).lazy
            .compactMap { gst_caps_features_get_nth(features, $0).map { String(cString: $0) } }
            .first { $0.hasPrefix("memory:") && $0 != "memory:SystemMemory" }
            .map { String($0.dropFirst("memory:".count)) }
    }

    /// The elements that download frames from a device's memory to system memory, and upload them.
    private static let bridges: [String: (down: String, up: String)] = [
        "GLMemory": ("gldownload", "glupload"),
        "CUDAMemory": ("cudadownload", "cudaupload"),
        "VAMemory": ("vapostproc", "vapostproc"),
        "VASurface": ("vaapipostproc", "vaapipostproc"),
        "VulkanImage": ("vulkandownload", "vulkanupload"),
        "NVMM": ("nvvidconv", "nvvidconv"),
    ]

    /// Advice on how to download frames of these caps to system memory; `nil` if they are already
    /// in system memory.
    package var downloadAdvice: String? {
        deviceMemory.map { memory in
            let element = Self.bridges[memory]?.down
            return element.map { "add \($0) to the capture, after the element with these caps" }
                ?? "add an element to the capture that downloads the frames from memory:\(memory)"
        }
    }

    /// Advice on how to upload frames to the device memory that these caps require; `nil` if they
    /// require none.
    package var uploadAdvice: String? {
        deviceMemory.map { memory in
            Self.bridges[memory].map { "put \($0.up) at the beginning of the output" }
                ?? "put an element that produces memory:\(memory) at the beginning of the output"
        }
    }
}
