// Hashes, compresses and reads a file in the thread pool; then computes in JavaScript. 20 rounds.
const { pbkdf2, randomBytes } = require('crypto');
const fs = require('fs');
const zlib = require('zlib');
const { promisify } = require('util');
const derive = promisify(pbkdf2), gzip = promisify(zlib.gzip);
(async () => {
  for (let round = 0; round < 20; round++) {
    const jobs = [];
    for (let i = 0; i < 8; i++) jobs.push(derive('secret', 'salt' + i, 20000, 64, 'sha512'));
    jobs.push(gzip(randomBytes(1 << 20)), fs.promises.readFile(process.execPath));
    await Promise.all(jobs);
    let x = 0; for (let i = 0; i < 3e6; i++) x += Math.sqrt(i);
  }
})();
