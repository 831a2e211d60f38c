import type { ObjectLine, ObjectLines } from './object-lines.js';
import { violationsIn, type Summary } from './summary.js';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);
/** What servers answer stands in the page, so nothing of it may be markup. */
const text = (value: unknown): string => String(value).replace(/[&<>"]/g, (it) => ESCAPES.get(it) ?? it);

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --bad: #c33; --event: #27c; --write: #284; --read: #888 }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
td, th { border-bottom: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
code, .lines td { font: 12px/1.4 ui-monospace, monospace } .lines td { overflow-wrap: anywhere }
.bad { color: var(--bad); font-weight: 600 } tr.here { background: #c332 }
svg { width: 100%; border: 1px solid var(--line) } svg text { font: 10px ui-monospace, monospace; fill: currentColor }
`;

/** One page that needs nothing else: what was done, what was found, and the history of each object that failed. */
export function htmlReport(summary: Summary, objects: readonly ObjectLines[]): string {
  const count = violationsIn(summary);
  const verdict = count === 0 ? 'No violation' : `<span class="bad">${count} violations</span>`;
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Robustness</title>',
    `<style>${STYLE}</style></head><body><h1>Robustness: ${verdict}</h1>`,
    section('Run', { seed: summary.seed, ...summary.options }),
    section('Operations', summary.counts),
    section('Faults', summary.faults),
    section('Violations', summary.violations),
    ...(count === 0 ? [] : [foundTable(summary)]),
    ...objects.map((it) => objectSection(it, summary)),
    '</body></html>\n',
  ].join('\n');
}

function section(title: string, values: Readonly<Record<string, string | number>>): string {
  const rows = Object.entries(values).map(
    ([name, value]) => `<tr><td>${text(name)}</td><td class="number">${text(value)}</td></tr>`,
  );
  return rows.length === 0 ? '' : `<h2>${title}</h2><table>${rows.join('')}</table>`;
}

function foundTable({ found }: Summary): string {
  const rows = found.map(
    ({ validator, promise, message, object = '', rv = '', at, operations = [] }) =>
      `<tr><td>${text(validator)}</td><td>${text(promise)}</td><td>${text(message)}</td>` +
      `<td><a href="#${text(object)}">${text(object)}</a></td><td class="number">${text(rv)}</td>` +
      `<td class="number">${at === undefined ? '' : at.toFixed(0)}</td><td>${operations.join(', ')}</td></tr>`,
  );
  const heads = ['Validator', 'Promise', 'What', 'Object', 'Version', 'At (ms)', 'Operations'];
  return `<h2>What was found</h2><table><tr>${heads.map((it) => `<th>${it}</th>`).join('')}</tr>${rows.join('')}</table>`;
}

function objectSection({ object, at, lines }: ObjectLines, { found }: Summary): string {
  const blamed = new Set(found.filter((it) => it.object === object).flatMap(({ operations = [] }) => operations));
  const versions = new Set(found.filter((it) => it.object === object).map(({ rv }) => rv));
  const isHere = (it: ObjectLine): boolean =>
    (it.operation !== undefined && blamed.has(it.operation)) || (it.rv !== undefined && versions.has(it.rv));
  const rows = lines.map(
    (it) =>
      `<tr${isHere(it) ? ' class="here"' : ''}><td class="number">${it.from.toFixed(1)}</td>` +
      `<td class="number">${it.to.toFixed(1)}</td><td>${text(it.who)}</td><td>${it.operation ?? ''}</td>` +
      `<td>${text(it.what)}</td><td>${text(it.answer)}</td><td class="number">${it.rv ?? ''}</td>` +
      `<td>${it.body === undefined ? '' : text(JSON.stringify(it.body))}</td></tr>`,
  );
  const heads = ['From', 'To (ms)', 'Who', 'Id', 'What', 'Answer', 'Version', 'Object'];
  return [
    `<h2 id="${text(object)}">${text(object)}</h2>`,
    at === undefined ? '' : `<p>The first thing goes wrong at ${at.toFixed(1)} ms.</p>`,
    timeline(lines, at),
    `<table class="lines"><tr>${heads.map((it) => `<th>${it}</th>`).join('')}</tr>${rows.join('')}</table>`,
  ].join('\n');
}

const WIDTH = 1200;
const LEFT = 170;
const ROW = 14;
/** Around what went wrong. */
const SHOWN_MS = 2_000;

/** Who did what when: a bar an operation, a tick an event. */
function timeline(lines: readonly ObjectLine[], at: number | undefined): string {
  const middle = at ?? lines.at(-1)?.to ?? 0;
  const near = lines.filter(({ from, to }) => to > middle - SHOWN_MS && from < middle + SHOWN_MS);
  if (near.length === 0) return '';
  const from = Math.min(...near.map((it) => it.from));
  const span = Math.max(1, Math.max(...near.map((it) => it.to)) - from);
  const x = (time: number): number => LEFT + ((time - from) / span) * (WIDTH - LEFT - 10);
  const who = [...new Set(near.map((it) => it.who))].sort();
  const marks = near.map((it) => {
    const y = who.indexOf(it.who) * ROW + 3;
    const width = Math.max(2, x(it.to) - x(it.from));
    const title = `${it.what} ${it.answer} ${it.rv ?? ''}`;
    return `<rect x="${x(it.from).toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 5}" fill="${colorOf(it)}" opacity=".7"><title>${text(title)}</title></rect>`;
  });
  const names = who.map((name, i) => `<text x="2" y="${i * ROW + 11}">${text(name)}</text>`);
  const height = who.length * ROW + 4;
  const line = at === undefined ? '' : `<line x1="${x(at).toFixed(1)}" x2="${x(at).toFixed(1)}" y1="0" y2="${height}" stroke="var(--bad)"/>`; // prettier-ignore
  return `<svg viewBox="0 0 ${WIDTH} ${height}">${names.join('')}${marks.join('')}${line}</svg>`;
}

function colorOf({ operation, what, answer }: ObjectLine): string {
  if (operation === undefined) return 'var(--event)';
  if (answer.startsWith('no answer')) return 'var(--bad)';
  return /^(?:get|list)/.test(what) ? 'var(--read)' : 'var(--write)';
}
