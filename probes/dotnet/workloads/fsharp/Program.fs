module Taskscale.Workloads.FSharp.Program

open System
open Taskscale
open Taskscale.Workloads
open Taskscale.Workloads.Interp

[<EntryPoint>]
let main args =
    match args with
    | [| runtime |] ->
        Fanout.Declare Forms.all
        Nop.Declare Forms.all
        Spin.Declare() |> ignore
        Parked.Declare("task{}/Task.Run", Waits.Waits())
        Workload.Declare(Interp.Ways.lookups, Interp.Ways.all)
        Probe.Serve(runtime, Environment.Version.ToString(), Environment.ProcessorCount)
        0
    | _ ->
        let said = String.Join(" ", args)
        eprintfn $"name one runtime, not \"{said}\": fsharp or fsharp+server-gc"
        2
