import type { Flag, FlagTable, FlagTypes } from '../../machinery/flags/flags.js';
import { isSecretMember, REDACTED, redactedText } from '../../machinery/log/redact.js';

type Value = FlagTypes[keyof FlagTypes];

/** The flags with the values that count, one a line, as they would be written. */
export function shownFlags(table: FlagTable, options: Readonly<Record<string, Value | undefined>>): string {
  const lines = Object.entries(table).map(([key, flag]) => `--${flag.flag}=${shown(flag, options[key])}`);
  return `${lines.sort().join('\n')}\n`;
}

function shown(flag: Flag, value: Value | undefined): string {
  const text = value === undefined ? '' : written(flag, value);
  return text !== '' && isSecretMember(flag.flag) ? REDACTED : redactedText(text);
}

function written({ type }: Flag, value: Value): string {
  if (typeof value !== 'object') return type === 'duration' ? `${String(value)}ms` : String(value);
  const items = value instanceof Map ? [...(value as ReadonlyMap<string, string>)].map((it) => it.join('=')) : value;
  return [...(items as Iterable<string>)].join(',');
}
