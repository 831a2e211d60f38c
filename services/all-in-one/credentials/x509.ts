// The library registers its parts through a polyfill that has to be there first.
import 'reflect-metadata';
import type * as X509 from '@peculiar/x509';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

const BUNDLE = '@peculiar/x509/build/x509.js';

/**
 * The certificate library, from its build for web pages: one file that defines a variable `x509`. It loads in 30 ms. The
 * package's main entry needs some 150 small files and 130 ms, which a first start cannot hide (docs/adr/0002).
 */
function load(): typeof X509 {
  const path = createRequire(import.meta.url).resolve(BUNDLE);
  const source = `${readFileSync(path, 'utf8')}\nreturn x509;`;
  const define = compileFunction(source, [], { filename: path }) as () => typeof X509; // the same sources, built by the package
  return define();
}

export const x509: typeof X509 = load();
