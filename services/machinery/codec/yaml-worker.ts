import { parentPort } from 'node:worker_threads';
import * as yaml from 'yaml';
import { StatusError } from '../meta/status.js';
import { parseYamlText } from './yaml.js';
import type { YamlAnswer, YamlQuestion } from './yaml-thread.js';

/** The thread in which long YAML is parsed: a question in, its answer out, in order. */
parentPort?.on('message', (question: YamlQuestion) => parentPort?.postMessage(answer(question)));

/** The value goes back as JSON: a text is handed over faster than an object. */
function answer({ text, maxDepth, maxBytes, wantsDuplicates }: YamlQuestion): YamlAnswer {
  const duplicates: string[] = [];
  try {
    const json = JSON.stringify(parseYamlText(yaml, text, maxDepth, wantsDuplicates ? duplicates : undefined));
    if (json.length <= maxBytes) return { json, duplicates };
    return { reason: 'RequestEntityTooLarge', message: `Request entity too large: limit is ${maxBytes}` };
  } catch (err) {
    if (err instanceof StatusError) return { reason: err.reason, message: err.message };
    return { reason: 'InternalError', message: 'Internal error occurred' };
  }
}
