// `probe swift`: the Swift probe on standard input and output.

import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

let runtime = CommandLine.arguments.dropFirst().first ?? ""
if runtime != "swift" {
    fputs("no runtime \"\(runtime)\" in this probe; choose swift\n", stderr)
    exit(2)
}
declareFanout()
declareNop()
declareSpin()
declareDrain()
declareParked()
declareBlocking()
declareCancel()
declarePingpong()
declareRemote()
declareContext()
declareIdle()
declareScale()
declareBytes()
declareInterp()
await serve(runtime, swiftVersion)
