// For each number on standard input, that many turns of one system call.
using System;
using System.IO;

using var nowhere = new FileStream("/dev/null", FileMode.Open, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
{
    for (var turns = long.Parse(line); turns > 0; turns--) nowhere.WriteByte((byte)'x');
    Console.Out.WriteLine("done");
    Console.Out.Flush();
}
