import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { CHART } from './helm.js';

type Tree = Readonly<Record<string, unknown>>;
interface Schema {
  readonly type?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const read = (name: string): string => readFileSync(join(CHART, name), 'utf8');
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values by their path. Maps that a user fills are values themselves: the schema knows no members of them. */
function valuesOf(tree: Tree, schema: Schema | undefined, path: readonly string[] = []): [string, unknown][] {
  return Object.entries(tree).flatMap(([key, value]): [string, unknown][] => {
    const here = [...path, key];
    const inner = schema?.properties?.[key];
    return isTree(value) && inner?.properties !== undefined ? valuesOf(value, inner, here) : [[here.join('.'), value]];
  });
}

function leavesOf({ properties = {} }: Schema, path: readonly string[] = []): [string, Schema][] {
  return Object.entries(properties).flatMap(([key, inner]): [string, Schema][] => {
    const here = [...path, key];
    return inner.properties === undefined ? [[here.join('.'), inner]] : leavesOf(inner, here);
  });
}

describe('the values of the chart', () => {
  const schema = JSON.parse(read('values.schema.json')) as Schema; // our own file
  const values = new Map(valuesOf(parse(read('values.yaml')) as Tree, schema));
  const leaves = new Map(leavesOf(schema).filter(([path]) => path !== 'global'));
  const rows = read('README.md').matchAll(/^\| `([\w.-]+)` +\| `(.*?)` +\| (.+?) +\|$/gm);
  const told = new Map([...rows].map(([, path = '', value = '', text = '']) => [path, { value, text }]));

  it('are all in the schema, and all of the schema are values', () =>
    assert.deepEqual([...values.keys()].sort(), [...leaves.keys()].sort()));

  it('are all in the README, with what holds where nothing is said', () => {
    assert.deepEqual([...told.keys()].sort(), [...values.keys()].sort());
    for (const [path, value] of values) assert.deepEqual(JSON.parse(told.get(path)?.value ?? ''), value, path);
  });

  it('are explained in the same words everywhere', () => {
    const comments = read('values.yaml').replace(/\n\s*# /g, ' ');
    for (const [path, { description = '' }] of leaves) {
      assert.equal(told.get(path)?.text, description, path);
      assert.ok(comments.includes(description), path);
    }
  });

  it('go through a strict schema', () => {
    const open = (at: Schema & { additionalProperties?: unknown }, path: string): string[] => {
      const { properties, additionalProperties } = at;
      if (properties === undefined) return [];
      const isResource = /\.(requests|limits)$/.test(path); // whatever pods take
      return [
        ...(additionalProperties === false || isResource ? [] : [path]),
        ...Object.entries(properties).flatMap(([key, inner]) => open(inner, `${path}.${key}`)),
      ];
    };
    assert.deepEqual(open(schema, ''), []);
  });
});
