/// <summary>Programs and what they give, in every language and encoding.</summary>
internal static class Semantics {
    private const string Ones = """["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],["int",1]]]]""";

    private static string Map(string body) => Ones[..^("""["int",1]]]]""".Length)] + body + "]]]";

    internal static readonly (string Program, string Right)[] Programs =
    [
        ("""["bin","Int::%",["int",7],["int",0]]""", "0"),
        ("""["var","a"]""", "an error: no variable a"),
        ("""["call","Int::none",[]]""", "an error: no function Int::none"),
        // The error of an argument is the call's, whether the function is there or not.
        ("""["call","Int::none",[["var","a"]]]""", "an error: no variable a"),
        ("""["if",["int",1],["int",2],["int",3]]""", "an error: a condition must be a boolean"),
        // A binding alters no environment: the inner `a` is gone behind its body.
        ("""["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]""", "1"),
        // A lambda has the environment in which it was written.
        ("""["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]""", "[5,5]"),
        (Map("""["var","i"]"""), "[1,2,3]"),
        // The first error of a list is the map's.
        (Map("""["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]"""), "an error: no variable c"),
        (Map(Map("""["bin","Int::%",["var","i"],["int",2]]""")), "[[1,0,1],[1,0,1],[1,0,1]]"),
        ("""["bin","Int::%",["var","a"],["int",1]]""", "an error: no variable a"),
        ("""["bin","Int::%",["int",1],["var","a"]]""", "an error: no variable a"),
        // What suspends may stand in every place.
        ($"""["let","a",{Ones},["var","a"]]""", "[1,1,1]"),
        ($"""["let","a",{Ones},{Map("""["var","a"]""")}]""", "[[1,1,1],[1,1,1],[1,1,1]]"),
        ($"""["call","List::map",[{Ones},["lambda",["i"],["int",2]]]]""", "[2,2,2]"),
        ($"""["bin","Int::%",{Ones},["int",2]]""", "an error: Int::% needs two integers"),
        ($"""["bin","Int::%",["int",2],{Ones}]""", "an error: Int::% needs two integers"),
        ($"""["if",{Ones},["int",1],["int",2]]""", "an error: a condition must be a boolean"),
    ];
}
