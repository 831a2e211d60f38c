// Writes proto/resource-api/: what the messages of all declared types are, for programs in other languages. Needs the
// compiled code; a test fails when the files are not what this would write.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const compiled = resolve(process.argv[2] ?? join(root, 'dist'), 'services/machinery');
const target = join(root, 'proto/resource-api');

const { protoFiles } = await import(join(compiled, 'codec/protobuf/proto-files.js'));
const { loadCatalog } = await import(join(compiled, 'types/catalog.js'));
const { vocabulary } = await import(join(compiled, 'vocabulary/vocabulary.js'));

const words = vocabulary('platform');
const files = protoFiles(loadCatalog(words).types, words.openApiModelPrefix);
rmSync(target, { recursive: true, force: true });
for (const [path, text] of files) {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
process.stdout.write(`${files.size} files in proto/resource-api\n`);
