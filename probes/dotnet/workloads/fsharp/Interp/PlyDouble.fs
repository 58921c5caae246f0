/// The double of a Ply. One that has its value is that value, and may be used often.
module Taskscale.Workloads.FSharp.Interp.PlyDouble

open FSharp.Control.Tasks.Affine.Unsafe
open Ply
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

let ply (observe: 'O when 'O: struct and 'O :> IObserve) (result: Ply<Value>) =
    if 'O.Counts && not result.IsCompletedSuccessfully then
        let double = Once<Value>.Of(uvtask { return! result }, observe)
        uply { return! double }
    else
        result
