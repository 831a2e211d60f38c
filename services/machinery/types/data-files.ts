import { readdirSync, readFileSync } from 'node:fs';

/** Parses one of this folder's own data files; `T` is the form that the file is written in. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- our own files: the call declares their form, tests check it
export function readData<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`./data/${path}`, import.meta.url), 'utf8')) as T;
}

/** File names in a folder of data files. */
export const dataFiles = (folder: string): readonly string[] =>
  readdirSync(new URL(`./data/${folder}`, import.meta.url));
