// Both pages as a reader has them, in a browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';

import { AXE, WIDTHS, bytes, data, digestPage, launch, open, runPage } from './browser.mjs';

let browser;
let files;

before(async () => {
  files = { run: runPage('quick.jsonl'), other: runPage('wide.jsonl'), digest: digestPage() };
  for (const [name, file] of Object.entries(files)) {
    console.log(`# page of ${name} (${basename(file)}): ${bytes(file)} bytes`);
  }
  browser = await launch();
});
after(async () => browser?.close());

/// Opens a page, does something with it, and holds it to what every page promises.
async function on(name, options, act) {
  const { page, seen, context } = await open(browser, files[name], options);
  try {
    await act(page);
    assert.deepEqual(seen.errors, [], 'what the console says');
    assert.deepEqual(seen.requests, [], 'what is asked of a network or a disk');
  } finally {
    await context.close();
  }
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();

/// Elements that stick out of the window on the right, though their surroundings do not scroll.
const wide = () => {
  const scrolls = (element) => {
    for (let one = element; one; one = one.parentElement) {
      if (one !== document.body && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)) return true;
    }
    return false;
  };
  return [...document.body.querySelectorAll('*')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one) && !one.closest('.skip'))
    .map((one) => `${one.tagName} ${one.className.baseVal ?? one.className}: ${one.textContent.slice(0, 40)}`);
};

for (const width of WIDTHS) {
  for (const name of ['run', 'digest']) {
    test(`the page of a ${name} fits ${width} pixels, all details open`, async () => {
      await on(name, { width }, async (page) => {
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
        assert.deepEqual(await page.evaluate(wide), []);
        const [inside, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(inside <= window, `${inside} in ${window} pixels`);
      });
    });

    test(`each figure of the page of a ${name} has its title at ${width} pixels`, async () => {
      await on(name, { width }, async (page) => {
        const figures = page.locator('figure');
        const count = await figures.count();
        assert.ok(count >= 4, `${count} figures`);
        for (let index = 0; index < count; index += 1) {
          const caption = figures.nth(index).locator('figcaption');
          assert.ok((await caption.innerText()).trim().length > 5 && (await caption.isVisible()));
        }
        const drawings = page.locator('svg[role=img]:visible');
        for (const drawing of await drawings.all()) {
          const named = await drawing.evaluate((svg) => {
            const ids = (svg.getAttribute('aria-labelledby') || '').split(' ');
            return svg.getAttribute('aria-label') || document.getElementById(ids[0])?.textContent;
          });
          assert.ok(named, await drawing.evaluate((svg) => svg.outerHTML.slice(0, 200)));
        }
        for (const heading of await page.locator('h1, h2, h3').all()) {
          assert.ok((await heading.isHidden()) || (await heading.innerText()).trim());
        }
      });
    });

    // Colours are the same at all widths.
    for (const scheme of width === 800 ? ['light', 'dark'] : ['light']) {
      test(`axe finds nothing serious on the page of a ${name}, ${scheme}, at ${width} pixels`, async () => {
        await on(name, { width, scheme }, async (page) => {
          if (name === 'run') await page.setInputFiles('#other', data('quick.jsonl'));
          await page.evaluate(AXE);
          const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
          const serious = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
          const said = serious.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html)}`);
          assert.deepEqual(said, []);
          assert.ok(found.passes.length > 10, 'it has looked');
        });
      });
    }
  }

  test(`the slider shows another size at ${width} pixels, by the keyboard alone`, async () => {
    await on('run', { width }, async (page) => {
      const shown = () => texts(page, '#strip-0 tbody:visible tr');
      const at = page.locator('h3 .at').first();
      const [rows, size] = [await shown(), await at.innerText()];
      await page.locator('input[type=range]').first().focus();
      await page.keyboard.press('ArrowLeft');
      assert.notDeepEqual(await shown(), rows);
      assert.notEqual(await at.innerText(), size);
      assert.equal(await page.locator('output').first().innerText(), await at.innerText());
      await page.keyboard.press('ArrowRight');
      assert.deepEqual(await shown(), rows);
    });
  });

  test(`the table sorts and filters at ${width} pixels`, async () => {
    await on('run', { width }, async (page) => {
      const column = page.locator('#all thead th', { hasText: 'CPU per task' });
      const values = () =>
        page.locator('#all tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[5].dataset.v));
      for (const [way, turn] of [['ascending', 1], ['descending', -1]]) {
        await column.locator('button').focus();
        await page.keyboard.press('Enter');
        assert.equal(await column.getAttribute('aria-sort'), way);
        const numbers = (await values()).filter((value) => value !== '').map(Number);
        assert.ok(numbers.length > 5);
        assert.deepEqual(numbers, [...numbers].sort((a, b) => turn * (a - b)));
      }
      const all = await page.locator('#all tbody tr').count();
      await page.fill('#filter', 'spawn');
      const left = await page.locator('#all tbody tr:visible').count();
      assert.ok(left > 0 && left < all, `${left} of ${all}`);
      assert.equal(await page.innerText('#shown'), `${left} of ${all} rows`);
      for (const row of await texts(page, '#all tbody tr:visible')) assert.match(row, /spawn/);
    });
  });

  test(`a second file that is dropped is set beside at ${width} pixels`, async () => {
    await on('run', { width }, async (page) => {
      await drop(page, 'mine.jsonl', readFileSync(data('quick.jsonl'), 'utf8'));
      await page.locator('#beside').waitFor();
      assert.match(await page.innerText('#beside'), /Beside mine\.jsonl[^]*same machine/);
      // A run beside itself: what the script reads from raw samples is what the tool has found.
      const rows = await page.locator('#beside-rows tr').evaluateAll((all) =>
        all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      assert.ok(rows.length > 10, `${rows.length} rows`);
      for (const [, , , , here, there, ratio] of rows) {
        assert.equal(there, here);
        assert.equal(ratio, /^[\d.]+ [num]?s$/.test(here) ? '1.00x' : '');
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      if (width >= 800) {
        const ratio = await page.locator('#beside-rows td:last-child').first().boundingBox();
        assert.ok(ratio.x + ratio.width <= width, 'the ratios are seen without scrolling');
      }
      await page.click('#beside-away');
      assert.ok(await page.locator('#beside').isHidden());
      assert.equal(await page.evaluate(() => document.activeElement.id), 'other');
    });
  });
}

/// Drops a file of this text onto the page.
async function drop(page, name, text) {
  const dropped = await page.evaluateHandle(([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name));
    return transfer;
  }, [name, text]);
  await page.dispatchEvent('main', 'drop', { dataTransfer: dropped });
}

test('the data that a page saves can be set beside another page', async () => {
  let saved;
  await on('run', { width: 800 }, async (page) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save a')]);
    assert.equal(download.suggestedFilename(), 'taskscale-summary.json');
    saved = readFileSync(await download.path(), 'utf8');
    assert.equal(JSON.parse(saved).schema, 'taskscale.summary/1');
    await drop(page, 'saved.json', saved);
    await page.locator('#beside').waitFor();
    assert.match(await page.innerText('#beside-rest'), /, 0 in this one alone, 0 in the other one alone/);
  });
  await on('other', { width: 800 }, async (page) => {
    await drop(page, 'saved.json', saved);
    await page.locator('#beside').waitFor();
    assert.match(await page.innerText('#beside-rest'), /rows are in both runs/);
  });
});

test('figures of another machine stand beside without a ratio', async () => {
  const text = readFileSync(data('quick.jsonl'), 'utf8').replace(/"fingerprint": ?"/, '$&x');
  await on('run', { width: 800 }, async (page) => {
    await page.setInputFiles('#other', { name: 'b.jsonl', mimeType: '', buffer: Buffer.from(text) });
    await page.locator('#beside').waitFor();
    assert.match(await page.innerText('#beside-machine'), /^Another machine: not divided/);
    const rows = await texts(page, '#beside-rows tr');
    assert.ok(rows.length > 10);
    for (const row of rows) assert.doesNotMatch(row, /\dx$/);
  });
});

test('a file that is no run says what it is, and a run that was killed is read as far as it goes', async () => {
  const whole = readFileSync(data('quick.jsonl'), 'utf8');
  await on('run', { width: 800 }, async (page) => {
    for (const [text, why] of [
      ['', /it is no JSON/],
      ['hello', /it is no JSON/],
      ['{"traceEvents": []}', /it names no schema/],
      ['{"schema": "taskscale.digest/1"}', /it is taskscale\.digest\/1/],
      ['{"schema": "taskscale.summary/1"}', /parts are missing/],
      ['null', /it names no schema/],
      [whole.replace('\n', '\n{broken\n'), /line 2 is broken/],
    ]) {
      await drop(page, 'x.json', text);
      await page.locator('#beside-said', { hasText: 'cannot be set beside' }).waitFor();
      assert.match(await page.innerText('#beside-said'), why);
      assert.ok(await page.locator('#beside').isHidden());
      await page.evaluate(() => (document.getElementById('beside-said').textContent = ''));
    }
    await drop(page, 'torn.jsonl', whole.slice(0, whole.length - 20));
    await page.locator('#beside').waitFor();
  });
});

test('hostile names in a second file are text', async () => {
  const evil = '</td><img src=x onerror=alert(1)><script>alert(2)</script>';
  const text = readFileSync(data('quick.jsonl'), 'utf8');
  await on('run', { width: 800 }, async (page) => {
    await drop(page, `${evil}.jsonl`, text.replaceAll('Example CPU', evil).replace(/"fingerprint": ?"/, '$&x'));
    await page.locator('#beside').waitFor();
    assert.ok((await page.innerText('#beside')).includes(evil));
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), 2);
  });
});

test('both pages are read without a script', async () => {
  for (const [name, sections] of [['run', 7], ['digest', 8]]) {
    await on(name, { width: 800, script: false }, async (page) => {
      assert.equal(await page.locator('main > section:visible').count(), sections);
      assert.equal(await page.locator('input:visible').count(), 0, 'nothing that would do nothing');
    });
  }
});

test('the digest of a page can be saved', async () => {
  await on('digest', { width: 800 }, async (page) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save a')]);
    assert.equal(download.suggestedFilename(), 'taskscale-digest.json');
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
    assert.equal(saved.schema, 'taskscale.digest/1');
    assert.equal(saved.workers, 8);
  });
});
