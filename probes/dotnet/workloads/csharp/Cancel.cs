namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>cancel</c>: <c>size</c> tasks that all wait for what never comes, cancelled and collected, both of which is timed. An
/// async method runs where it is called until it waits: once all calls have returned, all wait.
/// </summary>
internal static class Cancel {
    // Half a second: each wait for a task is searched for in the list of them.
    private const int Most = 65_536;

    /// <summary>Answer of an iteration: the number of tasks, or registrations, that saw that they were cancelled.</summary>
    internal static void Declare() {
        Probe.Param("cancel", "on", "event", "what tasks wait for, with their token: a TaskCompletionSource; an hour to pass; a "
            + "SemaphoreSlim that is held", "event", "timer", "lock");
        Probe.Param("cancel", "first", "oldest", "which task is cancelled first", "oldest", "newest");
        Parts.Declare("cancel", "CancellationToken/shared", run => Tasks(run, Shared)).CreatesTask(true).MaxSize(Most)
            .Only("first", "oldest").Note("one token for all");
        Parts.Declare("cancel", "CancellationToken/linked", run => Tasks(run, Linked)).CreatesTask(true).MaxSize(Most)
            .Only("first", "oldest").Note("each has a source that is linked to one");
        Parts.Declare("cancel", "CancellationToken/each", run => Tasks(run, Each)).CreatesTask(true).MaxSize(Most)
            .Note("a source each");
        Parts.Declare("cancel", "CancellationToken.Register", Registrations).Only("first", "oldest").Only("on", "event")
            .Note("callbacks of one token, no tasks and no exceptions");
    }

    private delegate (CancellationToken[] Tokens, Action Cancel) Form(int size, bool newest);

    private static (CancellationToken[], Action) Shared(int size, bool newest) {
        var stop = new CancellationTokenSource();
        return ([.. Enumerable.Repeat(stop.Token, size)], stop.Cancel);
    }

    private static (CancellationToken[], Action) Linked(int size, bool newest) {
        var stop = new CancellationTokenSource();
        return ([.. Enumerable.Range(0, size).Select(_ => CancellationTokenSource.CreateLinkedTokenSource(stop.Token).Token)],
            stop.Cancel);
    }

    private static (CancellationToken[], Action) Each(int size, bool newest) {
        CancellationTokenSource[] sources = [.. Enumerable.Range(0, size).Select(_ => new CancellationTokenSource())];
        CancellationToken[] tokens = [.. sources.Select(source => source.Token)];
        if (newest) Array.Reverse(sources);
        return (tokens, () => {
            foreach (CancellationTokenSource source in sources) source.Cancel();
        });
    }

    private static Task<Timing> Tasks(Run once, Form form) {
        (CancellationToken[] tokens, Action cancel) = form(once.Size, once.Word("first") == "newest");
        Func<CancellationToken, Task> wait = On(once.Word("on"));
        Task[] tasks = [.. tokens.Select(token => Waiting(wait, token))];
        int ended = tasks.Count(task => task.IsCompleted);
        if (ended > 0) throw new InvalidOperationException($"{ended} of {tasks.Length} tasks ended before they were cancelled");
        return once.TimeAsync(async _ => {
            cancel();
            await Task.WhenAll(tasks).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return tasks.Count(task => task.IsCanceled);
        });
    }

    private static async Task Waiting(Func<CancellationToken, Task> wait, CancellationToken token) => await wait(token);

    private static Func<CancellationToken, Task> On(string word) {
        if (word == "timer") return token => Task.Delay(Parked.Hour, token);
        if (word == "lock") return new SemaphoreSlim(0, 1).WaitAsync;
        return new TaskCompletionSource().Task.WaitAsync;
    }

    private static Task<Timing> Registrations(Run once) {
        var stop = new CancellationTokenSource();
        long called = 0;
        for (int i = 0; i < once.Size; i++) stop.Token.Register(() => called++);
        return once.TimeAsync(_ => {
            stop.Cancel();
            return Task.FromResult(called);
        });
    }
}
