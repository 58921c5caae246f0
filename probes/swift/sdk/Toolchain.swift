// Which Swift this is. Swift has no way of asking at run time, so the build does: it writes what `swiftc --version` said
// into a file and compiles that too (`build.sh`). A build that does not gets the little that the compiler tells itself.

#if !SWIFTC_VERSION
#if compiler(>=6.2)
let swiftcVersion = "Swift version 6.2 (or later; this build did not ask)"
#elseif compiler(>=6.1)
let swiftcVersion = "Swift version 6.1 (this build did not ask for more)"
#else
let swiftcVersion = "Swift version 6.0 (this build did not ask for more)"
#endif
#endif

/// The version of Swift: `6.0.3` out of `Swift version 6.0.3 (swift-6.0.3-RELEASE)`.
public var swiftVersion: String {
    let words = swiftcVersion.split(separator: " ")
    let version = words.firstIndex(of: "version").map { words[($0 + 1)...] }
    return String(version?.first ?? "unknown")
}
