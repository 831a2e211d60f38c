import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { HistoryBuilder } from './builder.js';
import type { History } from './history.js';
import type { Line } from './lines.js';

/** The lines of a file, one after the other. @throws {Error} Naming the line that is none. */
export async function* linesOf(path: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number++;
    if (text === '') continue;
    yield parsed(text, path, number);
  }
}

function parsed(text: string, path: string, number: number): Line {
  try {
    const line = JSON.parse(text) as unknown;
    if (typeof line === 'object' && line !== null && 't' in line) return line as Line;
  } catch {
    // told below
  }
  throw new Error(`Line ${number} of ${path} is none of a history`);
}

export async function readHistory(path: string): Promise<History> {
  const builder = new HistoryBuilder();
  for await (const line of linesOf(path)) builder.add(line);
  return builder.finish();
}
