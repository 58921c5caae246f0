// A value of JSON. Parameters and what a description says of them are such values; literals make them.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

public enum Json: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(UInt64)
    /// A number that is no integer from 0 to 2^64 - 1.
    case number(Double)
    case text(String)
    case list([Json])
    case object([String: Json])

    /// Reads one line.
    public init(line: [UInt8]) throws {
        self = try JSONDecoder().decode(Json.self, from: Data(line))
    }

    /// As text on one line.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Fails on infinities only, which JSON that was read cannot hold.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    /// The member of that name; null where there is none.
    public subscript(name: String) -> Json {
        object[name] ?? .null
    }

    var object: [String: Json] {
        if case .object(let object) = self { object } else { [:] }
    }

    var list: [Json] {
        if case .list(let list) = self { list } else { [] }
    }

    public var text: String {
        if case .text(let text) = self { text } else { "" }
    }
}

extension Json: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let integer = try? value.decode(UInt64.self) {
            self = .integer(integer)
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if value.decodeNil() {
            self = .null
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let list = try? value.decode([Json].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: Json].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        }
    }
}

extension Json: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral integer: UInt64) { self = .integer(integer) }
    public init(booleanLiteral flag: Bool) { self = .flag(flag) }
    public init(arrayLiteral list: Json...) { self = .list(list) }
    public init(dictionaryLiteral pairs: (String, Json)...) { self = .object(Dictionary(uniqueKeysWithValues: pairs)) }
}
