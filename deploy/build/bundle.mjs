// Runs after the compiler: joins what each command of bin/platform and bin/platformctl loads into a few files in dist/bundle. Loading hundreds of
// modules one by one is a third of the time that a process takes to start. What is imported when it is needed stays apart;
// packages are loaded from node_modules. Code finds its data files and workers where the compiler and copy-data put them.
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const dist = resolve(dirname(fileURLToPath(import.meta.url)), '../../dist');
const target = join(dist, 'bundle');
const COMMANDS = [
  'all-in-one',
  'apiserver',
  'controller-manager',
  'certificate-signer',
  'token-cleaner',
  'role-aggregation',
  'service-accounts',
  'resource-lifecycle',
  'certificates',
  'cli',
  'robustness',
];

/** When code was last compiled, and this file written. */
function newest() {
  const compiled = readdirSync(join(dist, 'services'), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile() && it.name.endsWith('.js') && !it.name.endsWith('.test.js'))
    .map((it) => join(it.parentPath ?? it.path, it.name));
  return Math.max(...[...compiled, fileURLToPath(import.meta.url)].map((path) => statSync(path).mtimeMs));
}

const isOfPackage = (id) => !id.startsWith('.') && !id.startsWith('/');

/** `import.meta.url` stays the place of the module that says it. */
const inPlace = {
  name: 'in-place',
  resolveImportMeta(property, { moduleId }) {
    if (property !== 'url') return null;
    return `new URL(${JSON.stringify(relative(target, moduleId))}, import.meta.url).href`;
  },
};

const bundled = statSync(join(target, `${COMMANDS.at(-1)}.js`), { throwIfNoEntry: false });
if (bundled === undefined || bundled.mtimeMs < newest()) {
  const bundle = await rollup({
    input: Object.fromEntries(COMMANDS.map((name) => [name, join(dist, 'services', name, 'main.js')])),
    external: isOfPackage,
    plugins: [inPlace],
    treeshake: false,
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const unfinished = `${target}.new`;
  await bundle.write({ dir: unfinished, format: 'esm', chunkFileNames: '[name].js' });
  await bundle.close();
  rmSync(target, { recursive: true, force: true });
  renameSync(unfinished, target);
}
