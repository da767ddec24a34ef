// SPDX-License-Identifier: MIT
// Writes the digest of the sources next to the built files; a test compares the two.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const files = ['index.html', 'package.json', 'package-lock.json', 'svelte.config.js', 'tsconfig.json', 'vite.config.ts'];
const walk = (folder) => {
  for (const name of readdirSync(folder)) {
    const path = `${folder}/${name}`;
    if (statSync(path).isDirectory()) walk(path);
    else files.push(path);
  }
};
walk('src');
walk('public');
files.push('../src/compiler_gym_explorer/schema.json'); // the types are generated from it
const hash = createHash('sha256');
for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
writeFileSync('../src/compiler_gym_explorer/static/sources.sha256', `${hash.digest('hex')}\n`);
