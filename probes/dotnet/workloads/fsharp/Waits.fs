module Taskscale.Workloads.FSharp.Waits

open System.Threading
open System.Threading.Tasks
open Taskscale.Workloads

/// `Task.Run` of a `task` that waits.
type Waits() =
    inherit Parked.Way()

    override _.OnEvent(happens: Task) =
        Task.Run<int64>(fun () ->
            task {
                Parked.Waits()
                do! happens
                return 1L
            })

    override _.OnTimer(stop: CancellationToken) =
        Task.Run<int64>(fun () ->
            task {
                Parked.Waits()
                // Without an exception for each, which would be the larger part of waking one.
                do! Task.Delay(Parked.Hour, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing)
                return if stop.IsCancellationRequested then 1L else 0L
            })

    override _.OnLock(held: SemaphoreSlim) =
        Task.Run<int64>(fun () ->
            task {
                Parked.Waits()
                do! held.WaitAsync()
                held.Release() |> ignore
                return 1L
            })
