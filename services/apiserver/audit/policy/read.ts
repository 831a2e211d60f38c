import { readFile } from 'node:fs/promises';
import { parseYaml } from '../../../machinery/codec/yaml.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { parsePolicy, type Policy } from './parse.js';

/** Version of the group that policies and events are written in. */
export const auditVersion = ({ groups }: Vocabulary): string => `${groups.audit}/v1`;

/** Reads a policy in YAML or JSON. @throws {Error} In one line that names the file, and the member that is wrong. */
export async function readPolicy(file: string, vocabulary: Vocabulary): Promise<Policy> {
  try {
    const bytes = await readFile(file);
    const duplicates: string[] = [];
    const value: unknown = await parseYaml(bytes, undefined, duplicates);
    if (duplicates.length > 0) throw new Error(`${duplicates.join(', ')}: is there twice`);
    return parsePolicy(value, auditVersion(vocabulary));
  } catch (err) {
    const [why] = (err as Error).message.split('\n');
    throw new Error(`Cannot use the audit policy ${file}: ${why ?? ''}`, { cause: err });
  }
}
