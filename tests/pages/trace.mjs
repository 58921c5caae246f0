// A made-up trace: eight workers with names render tiles that wait in a queue; one tile takes long.

const TASKS = 800;

// As long and unbroken as names of C++ and Java are.
const DENOISE = 'renderer::filters::bilateral::DenoiseTileWithHaloExchangeAndTemporalAccumulation<float,4ul>';

/// Numbers that look drawn by lot, and are the same each time (mulberry32).
function lots(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function trace() {
  const draw = lots(7);
  const names = ['decode', 'shade_tile', 'shade_tile', 'shade_tile', DENOISE];
  const typical = { decode: 300, shade_tile: 900, [DENOISE]: 1600 };
  const free = new Array(8).fill(0);
  const events = free.map((_, tid) => ({
    ph: 'M', name: 'thread_name', pid: 1, tid, args: { name: `render-${tid}` },
  }));
  for (let task = 0; task < TASKS; task += 1) {
    const name = task === 640 ? 'bake_lightmap' : names[Math.floor(draw() * names.length)];
    const length = name === 'bake_lightmap' ? 110_000 : typical[name] * (0.5 + draw() + 2 * draw() ** 6);
    const ready = task * 95;
    const tid = free.indexOf(Math.min(...free));
    const start = Math.max(free[tid] + 6 + 4 * draw(), ready + 3);
    free[tid] = start + length;
    const at = (ns) => Math.round(ns * 1000) / 1000;
    events.push({ ph: 's', id: task, name: 'submit', cat: 'flow', pid: 1, tid: 99, ts: at(ready) });
    events.push({ ph: 'X', name, cat: 'task', pid: 1, tid, ts: at(start), dur: at(length) });
    events.push({ ph: 'f', bp: 'e', id: task, name: 'submit', cat: 'flow', pid: 1, tid, ts: at(start + 0.5) });
  }
  return { traceEvents: events };
}
