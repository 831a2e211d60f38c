#!/usr/bin/env node
// Builds the operator's test that is run against this server, test-e2e/clients/envtest, as .cache/envtest/client. After Helm,
// with which it shares most of its libraries, that is a matter of seconds. Prints one line.
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withGo } from '../debian/go.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, '.cache');
const PLACE = join(CACHE, 'envtest/client');

mkdirSync(dirname(PLACE), { recursive: true });
const build = (go) =>
  go(['build', '-ldflags=-s -w', '-o', PLACE, '.'], { cwd: join(ROOT, 'test-e2e/clients/envtest') });
if (withGo(CACHE, build)) process.stdout.write(`envtest client: ${PLACE}\n`);
else {
  process.stderr.write('No Go to be had: put version 1.24 or newer of it on PATH\n');
  process.exitCode = 1;
}
