// How many of the spans that `taskscale digest --chrome` exports does Perfetto show? See README.md.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { open } from './processor.mjs';

const [taskscale, perfetto, ...traces] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'perfetto-'));
const DROPPED = "select ifnull(sum(value), 0) from stats where name = 'slice_drop_overlapping_complete_event'";
const OTHER = "select ifnull(group_concat(name || '=' || value), '') from stats where value > 0 and "
  + "severity in ('error', 'data_loss') and name <> 'slice_drop_overlapping_complete_event'";

/** What Taskflow would write of eight workers: process 1, threads from 0. */
function taskflowIds() {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const events = [];
  for (let tid = 0; tid < 8; tid++) {
    for (let i = 0, ts = 0; i < 20_000; i++) {
      const dur = Math.floor(random() * 60);
      events.push({ cat: 'ChromeObserver', name: `${tid}_${i}`, ph: 'X', pid: 1, tid, ts, dur });
      ts += dur + Math.floor(random() * 10);
    }
  }
  return JSON.stringify(events);
}

/** Spans of a worker that overlap without one lying in the other, behind one another in any order. */
function overlapping() {
  const events = [];
  for (let i = 0; i < 400; i++) {
    const at = (i * 7919) % 400;
    events.push({ name: `o${at}`, ph: 'X', pid: 7, tid: 7, ts: at * 10, dur: 35 + (at % 3) });
  }
  return JSON.stringify(events);
}

/** Calls inside calls, the inner ones first, all beginning with the outer one. */
function byEnd() {
  const events = [];
  for (let tree = 0; tree < 200; tree++) {
    for (let level = 1; level <= 5; level++) {
      events.push({ name: `level ${level}`, ph: 'X', pid: 1, tid: 1, ts: tree * 100, dur: level * 20 });
    }
  }
  return JSON.stringify(events);
}

/** The events of a list in another order. */
function shuffled(text) {
  const events = JSON.parse(text).slice(0, 20_000);
  return JSON.stringify(events.map((_, i) => events[(i * 7919) % events.length]));
}

const made = {
  'made: pid 1, tid 0 to 7': taskflowIds(),
  'made: overlapping': overlapping(),
  'made: by end': byEnd(),
  'made: in no order': shuffled(taskflowIds()),
};
for (const [name, text] of Object.entries(made)) {
  const path = join(folder, `${name.replace(/\W+/g, '-')}.json`);
  writeFileSync(path, text);
  traces.push(path);
}

console.log('| trace | spans | shown by Perfetto | of them dropped | tracks; workers | original: shown, dropped | other statistics |');
console.log('|---|--:|--:|--:|--:|--:|---|');
let lost = 0;
for (const trace of traces) {
  const out = join(folder, `out-${basename(trace)}`);
  const text = execFileSync(taskscale, ['digest', '--format', 'json', '--chrome', out, trace], { stdio: ['ignore', 'pipe', 'ignore'] });
  const digest = JSON.parse(text);
  const query = await open(perfetto, readFileSync(out));
  const [shown, tracks, us] = query('select count(*), count(distinct track_id), sum(dur) / 1000 from slice')[0];
  const dropped = query(DROPPED)[0][0];
  const other = query(OTHER)[0][0];
  let original = '-';
  if (trace.endsWith('.json') && readFileSync(trace, 'utf8').includes('"ph"')) {
    const query = await open(perfetto, readFileSync(trace));
    original = `${query('select count(*) from slice')[0][0]}, ${query(DROPPED)[0][0]}`;
  }
  lost += digest.tasks - shown;
  console.log(`| ${basename(trace)} | ${digest.tasks} | ${shown} | ${dropped} | ${tracks}; ${digest.workers} | ${original} | ${other} |`);
}
rmSync(folder, { recursive: true });
if (lost > 0) console.log(`\n${lost} spans are lost`);
process.exitCode = lost > 0 ? 1 : 0;
