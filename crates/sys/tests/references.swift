// Retains and releases a known number of times: `references MODE`, a line with a number for each request.
import Glibc

final class Box { var value = 0 }

/// What the optimiser must not look through.
@inline(never) func keep(_ box: Box) -> Box { box }

let box = keep(Box())
let unmanaged = Unmanaged.passUnretained(box)
let mode = CommandLine.arguments[1]

while let line = readLine() {
    let turns = Int(line) ?? 0
    switch mode {
    case "retain":
        for _ in 0..<turns { _ = unmanaged.retain() }
    case "release":
        for _ in 0..<turns { _ = unmanaged.retain() }
        for _ in 0..<turns { unmanaged.release() }
    default:
        // The array retains its elements, and releases them when it goes.
        var boxes: [Box] = []
        boxes.reserveCapacity(turns)
        for _ in 0..<turns { boxes.append(box) }
        precondition(boxes.count == turns)
    }
    print("done")
    fflush(nil)
}
