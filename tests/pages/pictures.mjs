// Takes the pictures of docs/guides/pages.md: tests/pages/run pictures

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, data, digestPage, launch, open, runPage } from './browser.mjs';

const FOLDER = join(ROOT, 'docs', 'guides', 'pictures');
/// What all pictures together may weigh.
const BYTES = 600_000;
const QUALITY = 36;
/// The windows of the first screens: width and height.
const WINDOWS = [[360, 760], [800, 780], [1280, 780]];
// PICTURES=png:/tmp/pictures writes them so that any viewer shows them.
const [format, folder] = (process.env.PICTURES || `webp:${FOLDER}`).split(':');

mkdirSync(folder, { recursive: true });
const browser = await launch();
const files = { run: runPage('quick.jsonl'), digest: digestPage() };
let total = 0;

/// Takes the part of a page from one height to another.
async function take(context, page, name, { width, from, to }) {
  const session = await context.newCDPSession(page);
  const shot = await session.send('Page.captureScreenshot', {
    format,
    ...(format === 'webp' ? { quality: QUALITY } : {}),
    captureBeyondViewport: true,
    clip: { x: 0, y: from, width, height: to - from, scale: 1 },
  });
  const bytes = Buffer.from(shot.data, 'base64');
  writeFileSync(join(folder, `${name}.${format}`), bytes);
  console.log(`${name}.${format}: ${width} x ${Math.round(to - from)}, ${bytes.length} bytes`);
  total += bytes.length;
}

/// Opens a page without what sticks to the top of the window: it would lie across the pictures.
async function opened(name, width, scheme) {
  const { page, context } = await open(browser, files[name], { width, scheme });
  await page.evaluate(() => (document.querySelector('nav').style.position = 'static'));
  return { page, context };
}

for (const name of ['run', 'digest']) {
  for (const [width, height] of WINDOWS) {
    for (const scheme of ['light', 'dark']) {
      const { page, context } = await opened(name, width, scheme);
      await take(context, page, `${name}-${width}-${scheme}`, { width, from: 0, to: height });
      await context.close();
    }
  }
}

/// A later run of the same machine, in which asyncio costs a quarter more.
function later() {
  const lines = readFileSync(data('quick.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
  for (const line of lines) {
    if (line.type === 'sample' && line.runtime.startsWith('asyncio')) line.cpu_ns = Math.round(line.cpu_ns * 1.25);
  }
  return lines.map((line) => JSON.stringify(line)).join('\n');
}

for (const [name, section] of [
  ['run', 'growth'],
  ['run', 'distributions'],
  ['run', 'beside'],
  ['digest', 'loss'],
  ['digest', 'time'],
  ['digest', 'workers'],
  ['digest', 'times'],
  ['digest', 'tasks'],
]) {
  const width = 800;
  const { page, context } = await opened(name, width, 'light');
  if (section === 'beside') {
    await page.setInputFiles('#other', { name: 'later.jsonl', mimeType: '', buffer: Buffer.from(later()) });
    await page.locator('#beside').waitFor();
  }
  const place = await page.locator(`#${section}`).evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return { from: top + scrollY, to: bottom + scrollY };
  });
  // A long section shows by its beginning what it is.
  await take(context, page, `${name}-${section}`, { width, from: place.from, to: Math.min(place.to, place.from + 620) });
  await context.close();
}

await browser.close();
console.log(`all together: ${total} bytes`);
if (format === 'webp' && total > BYTES) {
  console.error(`more than ${BYTES} bytes: leave pictures out, or lower QUALITY in ${import.meta.filename}`);
  process.exitCode = 1;
}
