// What the tests and the pictures share: the pages, and a browser that shows them.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { trace } from './trace.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const TARGET = process.env.CARGO_TARGET_DIR || join(ROOT, 'target');
const FOLDER = join(TARGET, 'pages');
const require = createRequire(join(FOLDER, 'package.json'));

export const WIDTHS = [360, 800, 1280];
export const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const data = (name) => join(ROOT, 'crates', 'analysis', 'tests', 'data', name);

/// Runs the command; gives what it prints.
function taskscale(...words) {
  const binary = join(TARGET, 'debug', 'taskscale');
  return execFileSync(binary, words, { argv0: 'taskscale', encoding: 'utf8', cwd: FOLDER, maxBuffer: 1 << 26 });
}

/// Writes the page of a run file.
export function runPage(name) {
  const file = join(FOLDER, name.replace('.jsonl', '.html'));
  taskscale('report', data(name), '-o', file);
  return file;
}

/// Writes the page of a digest of the made-up trace, which lies beside it.
export function digestPage() {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'trace.json'), JSON.stringify(trace()));
  const file = join(FOLDER, 'digest.html');
  writeFileSync(file, taskscale('digest', 'trace.json', '--format', 'html'));
  return file;
}

export const bytes = (file) => readFileSync(file).length;

export function launch() {
  const { chromium } = require('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROME_PATH });
}

/// Opens a page; `seen` gathers what it asks for and complains of.
export async function open(browser, file, { width, scheme = 'light', script = true }) {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    javaScriptEnabled: script,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const seen = { requests: [], errors: [] };
  const own = pathToFileURL(file).href;
  page.on('request', (request) => {
    if (request.url() !== own && !request.url().startsWith('blob:')) seen.requests.push(request.url());
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) seen.errors.push(message.text());
  });
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  await page.goto(own);
  return { page, seen, context };
}
