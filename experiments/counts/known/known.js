// For each number on standard input, that many turns of one system call.
const fs = require('node:fs');
const nowhere = fs.openSync('/dev/null', 'w');
const letter = Buffer.from('x');
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('line', (line) => {
  for (let turns = Number(line); turns > 0; turns--) fs.writeSync(nowhere, letter, 0, 1, null);
  fs.writeSync(1, 'done\n');
});
