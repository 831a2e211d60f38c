/** pino's numbers of severities. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [20, 'DEBUG'],
  [30, 'INFO'],
  [40, 'WARN'],
  [50, 'ERROR'],
]);

interface Entry {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

/** An entry in JSON as a line for people; an error's stack follows it in lines of its own, where it is an error's entry. */
export function lineOf(json: string): string {
  const { level, time, msg, err, ...keys } = JSON.parse(json) as Entry; // pino wrote it
  const told = err === undefined ? keys : { ...keys, err: err.message };
  const pairs = Object.entries(told).map(([key, value]) => ` ${key}=${shown(value)}`);
  const stack = level >= 50 && err?.stack !== undefined ? `\n${err.stack.replace(/^/gm, '    ')}` : '';
  return `${time} ${(NAMES.get(level) ?? String(level)).padEnd(5)} ${oneLine(msg)}${pairs.join('')}${stack}\n`;
}

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');
