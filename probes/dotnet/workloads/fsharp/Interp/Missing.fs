/// The rows of Ply where its package was not there when this was built.
module Taskscale.Workloads.FSharp.Interp.PlyWays

open System
open Taskscale.Workloads.Interp

type private Absent() =
    inherit Way()
    override _.Make(_, _) = raise (NotSupportedException())

let all: Way list =
    [ for name in [ "ply/task"; "vtask"; "uvtask"; "uply" ] do
          for name in [ name; name + "/sync_caller" ] do
              Absent(
                  Name = name,
                  Note = "a builder of Ply 0.3.1",
                  Missing =
                      struct ("the probe was built without the package Ply 0.3.1",
                              "taskscale setup fsharp, with a network or a NuGet.Config that names a source which has it")
              ) ]
