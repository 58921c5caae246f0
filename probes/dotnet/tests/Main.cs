using System.Reflection;

if (args is ["probe", string language]) {
    WorkloadHttpTests.Serve(language);
    return 0;
}
// A test is a static method of a class whose name ends with Tests. It passes unless it throws.
int failed = 0;
var tests = Assembly.GetExecutingAssembly().GetTypes().Where(type => type.Name.EndsWith("Tests"))
    .SelectMany(type => type.GetMethods(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
    .Where(method => method.GetParameters().Length == 0 && !method.Name.Contains('<'));
foreach (MethodInfo test in tests) {
    string name = $"{test.DeclaringType!.Name}.{test.Name}";
    try {
        test.Invoke(null, null);
        Console.WriteLine($"ok: {name}");
    }
    catch (TargetInvocationException thrown) when (thrown.InnerException is Skipped skipped) {
        Console.WriteLine($"skipped: {name}: {skipped.Message}");
    }
    catch (TargetInvocationException thrown) {
        failed++;
        Console.WriteLine($"FAILED: {name}: {thrown.InnerException!.Message.ReplaceLineEndings(" ")}");
    }
}
return failed == 0 ? 0 : 1;

/// <summary>A test needs what is not here: the reason, and a remedy in parentheses.</summary>
internal sealed class Skipped(string why) : Exception(why);

/// <summary>What tests say.</summary>
internal static class Held {
    internal static void Equal<T>(T expected, T found, string what = "") {
        if (!Equals(expected, found)) throw new InvalidOperationException($"{what} {found}, not {expected}");
    }

    internal static void True(bool condition, string what) {
        if (!condition) throw new InvalidOperationException(what);
    }
}
