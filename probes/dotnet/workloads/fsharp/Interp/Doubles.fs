/// What an instrumented run has in the place of a result that can be used once: the same, counted.
module Taskscale.Workloads.FSharp.Interp.Doubles

open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

/// A result that can be used often.
let inline none _observe result = result

let valueTask (observe: 'O) (result: ValueTask<Value>) = Once<Value>.Of(result, observe)
