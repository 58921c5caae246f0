// Counts and times its own callbacks with async_hooks, while Node traces:
//   node --trace-event-categories node,node.async_hooks,node.environment --trace-event-file-pattern node.json make_node.js
const { createHook } = require('async_hooks');
const { writeFileSync } = require('fs');

const totals = {}, began = new Map(), types = new Map();
createHook({
  init(id, type) { types.set(id, type); },
  before(id) { began.set(id, process.hrtime.bigint()); },
  after(id) {
    const ns = Number(process.hrtime.bigint() - began.get(id));
    const type = (totals[types.get(id)] ??= { callbacks: 0, ns: 0 });
    type.callbacks += 1;
    type.ns += ns;
  },
}).enable();

function spin(us) {
  const end = process.hrtime.bigint() + BigInt(us * 1000);
  while (process.hrtime.bigint() < end);
}

let n = 0;
function tick() {
  spin(200);
  if (++n < 12) setTimeout(tick, 1);
  else Promise.resolve().then(() => spin(100)).then(() => setImmediate(() => spin(150)));
}
setTimeout(tick, 1);
process.on('exit', () => writeFileSync('node.totals.json', JSON.stringify(totals) + '\n'));
