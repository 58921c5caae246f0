'use strict';
(() => {
  // A second run, read from a file that the reader chooses or drops, is set beside this one.
  const of = (id) => document.getElementById(id);
  const here = JSON.parse(of('data').textContent);
  if (!here) return;
  const MOST = 512 * 1024 * 1024;
  const sorted = (map) => Object.entries(map || {}).sort(([a], [b]) => (a < b ? -1 : 1));

  // Rows are the same if all that names them is, but for the version of the runtime. Where several
  // are named alike, the first belongs to the first.
  const keyed = (rows) => {
    const places = new Map();
    const known = new Map();
    for (const row of rows) {
      const { suite, table, workload, runtime, variant, size } = row;
      const name = JSON.stringify([suite, table, workload, runtime, variant, sorted(row.case), sorted(row.params), size]);
      const place = places.get(name) || 0;
      places.set(name, place + 1);
      known.set(`${place} ${name}`, row);
    }
    return known;
  };

  const ofSummary = (summary) => ({
    fingerprint: summary.machine.fingerprint,
    machine: summary.machine,
    rows: summary.rows
      .filter((line) => line.metric === 'cpu_per_task' && line.role !== 'control')
      .map((line) => ({ ...line, ns: line.p50 })),
  });

  // The median as the tool takes it: of an even number, the middle between the two in the middle.
  const median = (values) => {
    if (values.length === 0) return null;
    values.sort((a, b) => a - b);
    const at = (values.length - 1) / 2;
    return (values[Math.floor(at)] + values[Math.ceil(at)]) / 2;
  };

  const ofRunFile = (text) => {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const records = lines.map((line, index) => {
      try {
        return JSON.parse(line);
      } catch {
        // A run that was killed may end within a line.
        if (index + 1 === lines.length) return {};
        throw new Error(`line ${index + 1} is broken`);
      }
    });
    const header = records[0];
    const known = new Map();
    for (const row of records) {
      if (row.type === 'row') known.set(row.row, { ...row, values: [], reason: null });
      const mine = known.get(row.row);
      if (!mine) continue;
      if (row.type === 'sample' && row.kind === 'timed' && row.iterations > 0 && row.size > 0) {
        mine.values.push(row.cpu_ns / row.iterations / row.size);
      }
      if (row.type === 'row_end' && row.status !== 'ok') mine.reason = row.reason || row.status;
    }
    const rows = [...known.values()].filter((row) => row.role !== 'control' && row.role !== 'calibration');
    return {
      fingerprint: header.machine.fingerprint,
      machine: header.machine,
      rows: rows.map((row) => ({ ...row, ns: row.reason ? null : median(row.values) })),
    };
  };

  const read = (text) => {
    const end = text.indexOf('\n');
    let first = null;
    try {
      first = JSON.parse(end < 0 ? text : text.slice(0, end));
    } catch {
      // JSON over several lines.
    }
    const whole = first && first.schema ? first : JSON.parse(text);
    const schema = String((whole && whole.schema) || '');
    if (schema === 'taskscale.run/1') return ofRunFile(text);
    if (schema === 'taskscale.summary/1') return ofSummary(whole);
    throw new Error(schema ? `it is ${schema}` : 'it names no schema');
  };

  // Text of others as crates/model/src/plain.rs has it: what cannot be seen is marked.
  const plain = (text) => String(text)
    .replace(/[\t-\r\u0085\u2028\u2029]/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\ufff0-\uffff\u{e0000}-\u{e0fff}]/gu, '?');

  const time = (ns) => {
    if (typeof ns !== 'number') return '';
    const [unit, name] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, 'us'] : ns < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
    const value = ns / unit;
    return `${value.toFixed(unit === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${name}`;
  };
  const label = (map) => sorted(map).map(([name, value]) => ` ${name}=${value}`).join('');
  const words = (machine) => [machine.cpu_model, machine.kernel].filter((word) => typeof word === 'string').join(', ');

  const cell = (row, text, name, kind = 'td') => {
    const made = document.createElement(kind);
    made.textContent = plain(text);
    if (name) made.className = name;
    if (kind === 'th') made.scope = 'row';
    row.append(made);
    return made;
  };

  const show = (name, other) => {
    const mine = ofSummary(here);
    const theirs = keyed(other.rows);
    const isSame = Boolean(mine.fingerprint) && mine.fingerprint === other.fingerprint;
    const lines = [];
    let alone = 0;
    for (const [key, row] of keyed(mine.rows)) {
      const match = theirs.get(key);
      if (!match) {
        alone += 1;
        continue;
      }
      theirs.delete(key);
      const line = document.createElement('tr');
      cell(line, row.table === row.suite ? row.table : `${row.suite}: ${row.table}`);
      cell(line, row.runtime, '', 'th');
      cell(line, row.variant + label(row.case));
      cell(line, row.size.toLocaleString('en'), 'n');
      for (const one of [row, match]) {
        const figure = time(one.ns);
        cell(line, figure || one.reason || 'no figure', figure ? 'n' : 'why');
      }
      const both = typeof row.ns === 'number' && typeof match.ns === 'number' && row.ns > 0;
      const ratio = match.ns / row.ns;
      const said = !both ? '' : isSame ? `${ratio.toFixed(2)}x` : 'not divided';
      const shade = both && isSame && ratio !== 1 ? (ratio < 1 ? ' less' : ' more') : '';
      cell(line, said, `n${shade}`);
      lines.push(line);
    }
    of('beside-head').textContent = `Beside ${plain(name)}`;
    of('beside-other').textContent = plain(name);
    of('beside-machine').textContent = isSame
      ? 'Both runs are of the same machine. A ratio is the median of the other run divided by that of this one; whether it is more than chance, taskscale compare tells.'
      : `Another machine: not divided. The other one is ${plain(words(other.machine)) || 'not known'}.`;
    of('beside-rows').replaceChildren(...lines);
    of('beside-rest').textContent = `${lines.length} rows are in both runs, ${alone} in this one alone, ${theirs.size} in the other one alone.`;
    of('beside').hidden = false;
    of('beside').focus();
    return lines.length;
  };

  const said = of('beside-said');
  const take = async (file) => {
    if (!file) return;
    try {
      if (file.size > MOST) throw new Error('it has more than 512 MB: taskscale compare takes it');
      const count = show(file.name, read(await file.text()));
      said.textContent = `${plain(file.name)}: ${count} rows set beside.`;
    } catch (error) {
      of('beside').hidden = true;
      const why = error instanceof SyntaxError ? 'it is no JSON' : error instanceof TypeError ? 'parts are missing' : error.message;
      said.textContent = plain(`${file.name} cannot be set beside: ${why}.`) + ` Take a run file (.jsonl), or the JSON that a run's page saves.`;
    }
  };
  const chooser = of('other');
  chooser.addEventListener('change', () => take(chooser.files[0]));
  window.addEventListener('dragover', (event) => event.preventDefault());
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  of('beside-away').addEventListener('click', () => {
    of('beside').hidden = true;
    of('beside-rows').replaceChildren();
    chooser.value = '';
    said.textContent = '';
    chooser.focus();
  });
  of('chooser').hidden = false;
})();
