internal import FoundationEssentials

/// A message of a Janus server. Unknown fields are ignored.
struct JanusMessage: Decodable, Sendable {
    struct Failure: Decodable, Sendable {
        let code: Int
        let reason: String?
    }
    struct Created: Decodable, Sendable {
        let id: Int?
    }
    struct Plugin: Decodable, Sendable {
        let data: VideoRoomData?
    }
    struct Description: Decodable, Sendable {
        let type: String
        let sdp: String
    }
    struct Candidate: Decodable, Sendable {
        let candidate: String?
        let sdpMid: String?
    }

    /// `success`, `error`, `ack`, `event`, `hangup`, `timeout` …
    let janus: String
    /// The request that this message answers; `nil` if it is not an answer.
    let transaction: String?
    /// The handle that the message concerns; `nil` if none.
    let sender: Int?
    let error: Failure?
    let data: Created?
    let plugindata: Plugin?
    let jsep: Description?
    let candidate: Candidate?
    let reason: String?

    /// - Returns: `nil` for bytes that are not a Janus message.
    init?(_ bytes: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let message = try? decoder.decode(JanusMessage.self, from: Data(bytes)) else {
            return nil
        }
        self = message
    }
}

/// The VideoRoom plugin's data in a message.
struct VideoRoomData: Decodable, Sendable {
    struct Participant: Decodable, Sendable {
        let id: String
        /// What the participant publishes; `nil` if the message does not include it.
        let streams: [Stream]?
    }
    /// One stream of a publisher, or of a subscription.
    struct Stream: Decodable, Sendable {
        /// `audio`, `video` or `data`.
        let type: String
        let mid: String
        let description: String?
        let disabled: Bool?
    }

    /// `joined`, `attached`, `event`, `destroyed`, `created` …
    let videoroom: String?
    let errorCode: Int?
    let error: String?
    let id: String?
    let privateId: Int?
    let display: String?
    let publishers: [Participant]?
    let attendees: [Participant]?
    let joining: Participant?
    /// IDs of users, or `ok` for this user.
    let unpublished: String?
    let leaving: String?
    let kicked: String?
    let reason: String?
    let streams: [Stream]?
}

// MARK: - Requests

/// A value of a request's JSON.
enum JSONValue: Encodable, Sendable {
    case string(String)
    case number(Int)
    case bool(Bool)
    case array([JSONValue])
    case object([String: JSONValue])

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }

    /// The text of an object.
    static func text(of object: [String: JSONValue]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value can be encoded.
        return (try? encoder.encode(JSONValue.object(object))).map { [UInt8]($0) } ?? []
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
