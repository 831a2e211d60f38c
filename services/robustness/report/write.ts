import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHistory } from '../history/read.js';
import type { Limits } from '../validators/violation.js';
import { validate } from '../validators/validators.js';
import { htmlReport } from './html.js';
import { objectLines } from './object-lines.js';
import { summaryOf, type Summary } from './summary.js';
import { textReport } from './text.js';

/** Validates a history and writes what is found beside it. */
export async function writeReports(historyFile: string, directory: string, limits: Limits): Promise<Summary> {
  const history = await readHistory(historyFile);
  const summary = summaryOf(history, validate(history, limits));
  writeFileSync(join(directory, 'report.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeFileSync(join(directory, 'report.txt'), textReport(summary));
  const objects = await objectLines(historyFile, summary.found);
  writeFileSync(join(directory, 'report.html'), htmlReport(summary, objects));
  return summary;
}
