import { readdirSync, readFileSync } from 'node:fs';

/** Parses one of this folder's own data files; `T` is the form that the file is written in. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- our own files: the call declares their form, tests check it
export function readData<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`./data/${path}`, import.meta.url), 'utf8')) as T;
}

/** File names in a folder of data files. */
export const dataFiles = (folder: string): readonly string[] =>
  readdirSync(new URL(`./data/${folder}`, import.meta.url));

/** Data of the same form, every string in it translated; names of members stay. */
export function translatedTree<T>(data: T, translate: (platformForm: string) => string): T {
  const translated = (node: unknown): unknown => {
    if (typeof node === 'string') return translate(node);
    if (Array.isArray(node)) return node.map(translated);
    if (typeof node !== 'object' || node === null) return node;
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(node)) copy[key] = translated(value);
    return copy;
  };
  return translated(data) as T;
}
